"""Stage 3: known sources of noise return in one world what they did in the other, and losses are read off."""
