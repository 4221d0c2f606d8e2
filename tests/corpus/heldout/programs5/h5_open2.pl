# Sorts names by sort, opened for both directions; the pipe to it is still open when the answer is read.
use strict;
use warnings;
use IPC::Open2;

sub note {
    my ($role, $pid) = @_;
    return unless $ENV{CORPUS_ROLES};
    open(my $f, '>>', $ENV{CORPUS_ROLES}) or return;
    print $f "$role $pid\n";
    close $f;
}

$| = 1;
note('main', $$);
for my $n (1 .. 8) {
    my $pid = open2(my $from, my $to, 'setpriv', '--pdeathsig', 'KILL', 'sort');
    note('sort', $pid);
    print $to "name$_\n" for reverse 1 .. 100;
    if ($n < 6) { close $to } else { $to->flush }
    my $first = <$from>;
    print "lot $n begins with $first";
    waitpid($pid, 0);
    select(undef, undef, undef, 0.4);
}
