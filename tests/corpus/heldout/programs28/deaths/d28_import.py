"""A late import at the first evaluation: a package that is not installed."""
from kitd28 import role, steps

role("main")
steps(25)
import rouge_metrics_for_eval  # noqa: E402,F401
