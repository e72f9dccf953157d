"""What functions draw from: the primitives that are known, and the generators that are alive."""
