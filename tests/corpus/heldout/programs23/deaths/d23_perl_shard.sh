# A Perl program is given one shard more than there are.
for ((k = 0; k < 3; k++)); do
	printf 'one\ntwo\n' > shard-$k.tsv
done
exec perl -e '
$| = 1;
for my $step (0 .. 19) { select(undef, undef, undef, 0.1); print "step $step rows ", 2 * $step, "\n" if $step % 5 == 0 }
for my $k (0 .. 3) {
	open(my $f, "<", "shard-$k.tsv") or die "cannot open shard-$k.tsv: $!";
	my @rows = <$f>;
	print "shard $k rows ", scalar(@rows), "\n";
}'
