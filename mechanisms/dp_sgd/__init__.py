"""DP-SGD: noisy sums of clipped gradients, one for each step of training."""
