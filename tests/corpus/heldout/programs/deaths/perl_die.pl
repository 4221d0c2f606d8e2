# die of Perl
print "cleaning\n"; select(undef, undef, undef, 0.5);
die "corpus.txt line 88: unbalanced tag";
