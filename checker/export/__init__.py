"""Traces and state graphs in the formats of other tools, and as pictures."""
