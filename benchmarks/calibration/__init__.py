"""What a real clock shows of equal code, and of leaks of a stated size: `make calibrate`."""
