"""All ranks grow alike."""
from mem import *
role('ranks')
grow(40)
