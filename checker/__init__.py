"""What is done with a protocol: compiled, proved symmetric, explored, told."""
