"""The files that `tidegauge new` starts with, as texts with $NAME in them (`checker.start`)."""
