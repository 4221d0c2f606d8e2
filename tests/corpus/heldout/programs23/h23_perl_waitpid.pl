# Shards are tokenized by a child each, which writes to a pipe. The parent waits for the child's end and then reads what
# it has written. One shard has more than fits into a pipe.
use strict;
use warnings;

sub role {
	my ($name, $pid) = @_;
	return unless $ENV{CORPUS_ROLES};
	open(my $f, '>>', $ENV{CORPUS_ROLES}) or die $!;
	syswrite($f, "$name $pid\n");
	close $f;
}

sub tokenize {
	my ($shard, $out) = @_;
	select(undef, undef, undef, 0.2);
	my $tokens = $shard == 33 ? 60000 : 400;
	syswrite($out, "17 4 ") for 1 .. $tokens;
}

$| = 1;
role('main', $$);
for my $shard (0 .. 499) {
	pipe(my $in, my $out) or die $!;
	my $pid = fork();
	if (!$pid) {
		close $in;
		tokenize($shard, $out);
		exit 0;
	}
	role('child', $pid) if $shard == 33;
	close $out;
	waitpid($pid, 0);
	my @tokens = map { split } <$in>;
	print "step $shard tokens ", scalar(@tokens), "\n" if $shard % 5 == 0;
}
