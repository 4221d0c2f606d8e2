# A Perl program asks a model for a score that it has not found.
exec perl -e '
$| = 1;
for my $step (0 .. 19) { select(undef, undef, undef, 0.1); print "step $step rows ", 2 * $step, "\n" if $step % 5 == 0 }
my %models = (small => bless({}, "Model"));
sub Model::score { 0.5 }
print "$_ ", $models{$_}->score, "\n" for "small", "large";
'
