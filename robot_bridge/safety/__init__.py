"""The safety chain, which every velocity passes on its way to the wheels, and the checks that the chain uses."""
