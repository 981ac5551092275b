"""Lowerings of a protocol: states as machine words, expressions as machine code and as z3 formulas."""
