# open or die of Perl
print "cleaning\n"; select(undef, undef, undef, 0.5);
open(my $f, "<", "/data/raw/part-9.txt") or die "cannot open part-9.txt: $!\n";
