"""A file of annotations was cut off."""
import xml.etree.ElementTree as tree

from kitd24 import steps

ROW = "<object><name>cat</name></object>"
for k, text in enumerate(["<a>%s</a>" % ROW, "<a>%s</a>" % (2 * ROW), "<a>%s<object><name>dog</na" % ROW]):
    steps(8, 8 * k)
    print("file %d: %d objects" % (k, len(tree.fromstring(text))), flush=True)
