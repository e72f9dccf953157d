"""Does a sampler follow the law that it declares? All strings of bits judge it, or runs do."""
