# Aliases of the scripts; make run ARGS="--only goal_navigation"
.PHONY: run explore demo-robot test check lock

run:
	sh scripts/run $(ARGS)

explore:
	sh scripts/explore $(ARGS)

demo-robot:
	sh scripts/demo-robot $(ARGS)

test:
	sh scripts/test $(ARGS)

check:
	sh scripts/check

lock:
	sh scripts/lock $(ARGS)
