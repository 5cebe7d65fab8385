# Two targets do everything: `make demo` and `make test`. Both set up what is missing first; `make help` lists the rest.
SHELL := /bin/sh
.DEFAULT_GOAL := help
PY := .headroom/venv/bin/python
RUN := . .headroom/activate && export ANSIBLE_LOCALHOST_WARNING=False PYTHONPATH=$(CURDIR)/.collections &&

.PHONY: help setup demo demo-down check test model docs requirements bench-site bench-lint bench-plan bench-plan-quick bench-storage bench-storage-quick storage-evidence bench-maintenance bench-maintenance-quick bench-demo bench-model bundle

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: ## install what the project needs (part of every other target)
	@python3 tools/setup.py

demo: setup ## three lab hosts, deployed, with a report; VERSION=3.6.16 or 3.5.35 for another etcd
	@$(RUN) lab/demo up $(VERSION)

demo-down: setup ## remove the lab of the demo
	@$(RUN) lab/demo down

check: setup ## the fast checks: lint, types, units, policies
	@$(RUN) python tests/run.py check

test: setup ## every check, on real hosts too
	@$(RUN) python tests/run.py all

model: setup ## render model/ for Python and Rego
	@$(RUN) python model/render.py && python policies/render.py

bench-site: setup ## time the floor, a cold run and a second run of site.yml in a lab of its own
	@$(RUN) bench/site/run.py

bench-lint: setup ## time the linter on 100, 1,000 and 10,000 hosts, both forms; write the table of docs/inventory.md
	@$(RUN) python -m bench.lint.run --write

bench-memory: setup ## measure real etcd of three releases, case by case, and hold the model against it (about an hour)
	@$(RUN) python -m bench.memory.run && python -m bench.memory.report

bench-memory-quick: setup ## measure four cases of each release and say how far the model is from them (3 minutes)
	@$(RUN) python -m bench.memory.run --quick --results .headroom/bench-memory-quick.csv && \
	  python -m bench.memory.report --print --results .headroom/bench-memory-quick.csv

bench-plan: setup ## run real etcd inside the plan's limit, and its defaults beside it; write docs/proof.md (25 minutes, as root)
	@$(RUN) python -m bench.plan.run && python -m bench.plan.report

bench-plan-quick: setup ## one workload of bench-plan, once (under 2 minutes, as root)
	@$(RUN) python -m bench.plan.run --quick && python -m bench.plan.report --print --results .headroom/bench-plan/quick

bench-storage: setup ## measure what each remedy for a slow disk is worth, and write docs/storage-evidence.md (15 minutes, as root)
	@$(RUN) python -m bench.storage.run && python -m bench.storage.report

bench-storage-quick: setup ## a part of bench-storage, once, and its tables (under 2 minutes, as root)
	@$(RUN) python -m bench.storage.run --quick && \
	  python -m bench.storage.report --print --results .headroom/bench-storage/quick.csv

storage-evidence: setup ## write docs/storage-evidence.md and its picture from what was measured
	@$(RUN) python -m bench.storage.report

bench-maintenance: setup ## defragment under load with etcdctl and with Headroom; write docs/maintenance-evidence.md (under 10 minutes)
	@$(RUN) python -m bench.maintenance.run && python -m bench.maintenance.report

bench-maintenance-quick: setup ## the same with a smaller database, once, and its tables (under 2 minutes)
	@$(RUN) python -m bench.maintenance.run --quick && \
	  python -m bench.maintenance.report --print --results .headroom/bench-maintenance/quick

bench-demo: setup ## load the demo's hosts as their inventory says, and draw the plan beside what was measured (4 minutes)
	@$(RUN) python -m bench.demo.plan_and_measured

bench-model: setup ## time the memory model and the plan
	@$(RUN) python -m bench.model.run

accuracy: setup ## write docs/accuracy.md and its pictures from what was measured
	@$(RUN) python -m bench.memory.report

bundle: setup ## the policies as an archive for `conftest test -p`, in .headroom
	@$(RUN) python policies/bundle.py

requirements: ## pin requirements/requirements.in anew, for PYTHON311 and PYTHON312 (paths of the two interpreters)
	@requirements/pin $(PYTHON311) python-3.11.txt "ansible-core 2.19, the newest for Python 3.11"
	@requirements/pin $(PYTHON312) python-3.12.txt "the newest ansible-core needs Python 3.12"
