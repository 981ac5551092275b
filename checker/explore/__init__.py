"""Search: a slow one that is easy to trust, and a fast one that is compared with it."""
