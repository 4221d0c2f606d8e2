# A scorer, a process at two pipes, is asked for each sample, and has 20 s by an alarm. The alarm's handler sets a flag:
# perl runs it and reads on. The scorer leaves empty samples out, and waits for the next question.
#
# slow (an argument): the alarm comes after 60 s, and its handler leaves the read; the sample is left out.
use strict;
use warnings;
use IPC::Open2;

my $slow = @ARGV > 0 && $ARGV[0] eq 'slow';
my $late = 0;

sub role {
	my ($name, $pid) = @_;
	return unless $ENV{CORPUS_ROLES};
	open(my $f, '>>', $ENV{CORPUS_ROLES}) or die $!;
	syswrite($f, "$name $pid\n");
	close $f;
}

sub score {
	while (my $sample = <STDIN>) {
		chomp $sample;
		print length($sample) * 0.5, "\n" if $sample ne '';
	}
}

$| = 1;
if (@ARGV && $ARGV[0] eq 'scorer') {
	score();
	exit 0;
}
role('main', $$);
my $pid = open2(my $from, my $to, $^X, $0, 'scorer');
role('scorer', $pid);
$SIG{ALRM} = $slow ? sub { die "late\n" } : sub { $late = 1 };
for my $step (0 .. ($slow ? 60 : 499)) {
	select(undef, undef, undef, 0.2);
	my $value = eval {
		alarm($slow ? 60 : 20);
		print $to $step == 34 ? "\n" : "sample $step\n";
		$to->flush;
		my $got = <$from>;
		alarm 0;
		$got;
	};
	$value = 0 if $late || !defined $value;
	$late = 0;
	print "step $step score ", $value + 0, "\n" if $step % 5 == 0;
}
