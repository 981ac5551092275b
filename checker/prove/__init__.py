"""What licenses pruning: z3's proofs, and the certificates that record them."""
