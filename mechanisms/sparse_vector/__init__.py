"""The sparse vector technique: which queries reach a threshold."""
