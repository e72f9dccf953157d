"""Whether the outcomes of a sampler follow the law that it declares: from its bits, or from runs."""
