"""How a link's motion over a step becomes a velocity: exp and split."""
