$| = 1;
print "reading annotations\n";
require Corpus::NoSuch::Tokenizer;
