# `make demo` and `make test` do everything; each target first sets up what it needs and is missing. `make help` lists the targets.
SHELL := /bin/sh
.DEFAULT_GOAL := help
# Do not pass on ANSIBLE_INVENTORY and the like from the user's environment: they belong to other projects. So does a VERSION there.
unexport PYTHONSAFEPATH PYTHONHOME $(filter ANSIBLE_% MOLECULE_%,$(.VARIABLES))
# Ansible needs a locale that the machine has, and SSH may have brought one that it lacks.
export LC_ALL := C.UTF-8
ifneq ($(origin VERSION),command line)
override VERSION :=
endif
RUN := . .headroom/activate && export ANSIBLE_LOCALHOST_WARNING=False PYTHONPATH="$(CURDIR)/.collections" &&

.PHONY: help setup demo demo-down check test model architecture role-docs accuracy storage-evidence bundle requirements \
  bench-audit bench-chaos bench-chaos-quick bench-demo bench-follower bench-lifecycle bench-lifecycle-kills bench-lint bench-maintenance bench-maintenance-quick \
  bench-memory bench-memory-compaction bench-memory-quick bench-memory-random bench-memory-starts bench-model bench-plan bench-plan-quick bench-site bench-storage bench-storage-quick \
  bench-world

# Headings of `make help` begin with `##@`.
help: ## list the targets
	@awk -F ':.*## ' '/^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-24s %s\n", $$1, $$2}' Makefile

# tools/setup/targets.py says what each target needs.
setup-%:
	@python3 -m tools.setup $*

##@ Deploy a cluster in the lab
demo: ## deploy three lab hosts and print the report; VERSION=3.6.16 or 3.5.35 deploys another etcd
	@python3 -m tools.setup demo $(VERSION:%=etcd-$(basename $(VERSION)))
	@$(RUN) lab/demo up $(VERSION)

demo-down: setup-demo-down ## remove the demo's lab
	@$(RUN) lab/demo down

##@ Check a change
check: setup-check ## run the fast checks: lint, types, units, policies (under 3 minutes)
	@$(RUN) python tests/run.py check

test: setup-test ## run every check, on lab hosts too
	@$(RUN) python tests/run.py all

##@ Generate files from their sources
model: setup-model ## render model/ for Python and Rego
	@$(RUN) python -m tools.render_model && python -m tools.policies.render

architecture: setup-architecture ## draw docs/images/architecture.svg from the code
	@$(RUN) python -m tools.architecture

role-docs: setup-role-docs ## write roles/*/README.md from the roles' argument specs
	@$(RUN) python -m tools.role_readmes

accuracy: setup-accuracy ## write docs/accuracy.md and its pictures from the recorded measurements
	@$(RUN) python -m bench.memory.report

storage-evidence: setup-storage-evidence ## write docs/storage-evidence.md and its picture from the recorded measurements
	@$(RUN) python -m bench.storage.report

bundle: setup-bundle ## pack the policies for `conftest test -p`, in .headroom
	@$(RUN) python -m tools.policies.bundle

requirements: ## pin requirements/requirements.in again, for PYTHON311 and PYTHON312 (paths of the two interpreters)
	@requirements/pin $(PYTHON311) python-3.11.txt "ansible-core 2.19, the newest for Python 3.11"
	@requirements/pin $(PYTHON312) python-3.12.txt "the newest ansible-core needs Python 3.12"

##@ Measure
bench-audit: setup-bench-audit ## audit known workloads, planted defects and other supervisors' etcds, and measure the load; write docs/audit-evidence.md (40 minutes, or PARTS=…)
	@$(RUN) LAB_NAME=bench-audit python -m bench.audit.run $(PARTS) && python -m bench.audit.report

bench-chaos: setup-bench-chaos ## kill and disturb each operation on lab hosts; write docs/reliability.md (four hours at most, or MINUTES=…)
	@$(RUN) LAB_NAME=bench-chaos ANSIBLE_INVENTORY=inventory,lab/inventory.py,bench/chaos/inventory \
	  python -m bench.chaos.run $(MINUTES:%=--minutes %) && python -m bench.chaos.report

bench-chaos-quick: setup-bench-chaos-quick ## run only the most informative cases; print the tables (6 minutes)
	@$(RUN) LAB_NAME=bench-chaos ANSIBLE_INVENTORY=inventory,lab/inventory.py,bench/chaos/inventory \
	  python -m bench.chaos.run --quick && python -m bench.chaos.report --print --results .headroom/bench-chaos

bench-demo: setup-bench-demo ## load the demo's hosts at twice the rate in their inventory, and draw planned and measured memory (4 minutes)
	@$(RUN) python -m bench.demo.plan_and_measured

bench-follower: setup-bench-follower ## measure a leader while a follower receives a snapshot: the cases that bench/follower/results.csv lacks (25 minutes, as root)
	@$(RUN) python -m bench.follower.run && python -m bench.follower.report

bench-lifecycle: setup-bench-lifecycle ## time an upgrade, and run four scenarios, real etcd and certificates with the tests that `make test` leaves out (more than an hour)
	@$(RUN) python -m bench.lifecycle.run
	@$(RUN) export HEADROOM_CAMPAIGN=yes && for scenario in lifecycle membership maintenance default; do python tests/run.py "molecule $$scenario" || exit 1; done && python tests/run.py "real etcd" certificates

bench-lifecycle-kills: setup-bench-lifecycle-kills ## kill each of those operations at ten random points; write docs/lifecycle-evidence.md (two hours, or MINUTES=…)
	@$(RUN) LAB_NAME=bench-lifecycle-kills python -m bench.lifecycle.kills $(MINUTES:%=--minutes %) && python -m bench.lifecycle.report

bench-lint: setup-bench-lint ## time the linter on 100, 1,000 and 10,000 hosts, and write the table of docs/inventory.md
	@$(RUN) python -m bench.lint.run --write

bench-maintenance: setup-bench-maintenance ## defragment under load with etcdctl and with Headroom; write docs/maintenance-evidence.md (10 minutes)
	@$(RUN) python -m bench.maintenance.run && python -m bench.maintenance.report

bench-maintenance-quick: setup-bench-maintenance-quick ## run bench-maintenance once with a smaller database; print the tables (2 minutes)
	@$(RUN) python -m bench.maintenance.run --quick && \
	  python -m bench.maintenance.report --print --results .headroom/bench-maintenance/quick

bench-memory: setup-bench-memory ## measure real etcd of three releases, and compare the model with it (an hour)
	@$(RUN) python -m bench.memory.run && python -m bench.memory.report

bench-memory-compaction: setup-bench-memory-compaction ## measure loads with and without compaction that are not in bench/memory/compaction.csv yet (20 minutes)
	@$(RUN) python -m bench.memory.compaction && python -m bench.memory.report

bench-memory-quick: setup-bench-memory-quick ## measure four cases of each release, and print the model's error (3 minutes)
	@$(RUN) python -m bench.memory.run --quick --results .headroom/bench-memory-quick.csv && \
	  python -m bench.memory.report --print --results .headroom/bench-memory-quick.csv

bench-memory-random: setup-bench-memory-random ## measure random workloads that are not in bench/memory/random.csv yet (40 minutes, or MINUTES=…)
	@$(RUN) python -m bench.memory.random_workloads.run $(MINUTES:%=--minutes %) && python -m bench.memory.report

bench-memory-starts: setup-bench-memory-starts ## measure starts over large databases that are not in bench/memory/starts.csv yet (30 minutes)
	@$(RUN) python -m bench.memory.starts && python -m bench.memory.starts --busy && python -m bench.memory.report

bench-model: setup-bench-model ## time the memory model and the plan
	@$(RUN) python -m bench.model.run

bench-plan: setup-bench-plan ## run real etcd with the planned and the default flags under the plan's limit; write docs/proof.md (25 minutes, as root)
	@$(RUN) python -m bench.plan.run && python -m bench.plan.report

bench-plan-quick: setup-bench-plan-quick ## run one workload of bench-plan, once (2 minutes, as root)
	@$(RUN) python -m bench.plan.run --quick && python -m bench.plan.report --print --results .headroom/bench-plan/quick

bench-site: setup-bench-site ## time an empty task, a first run and a second run of site.yml in a separate lab
	@$(RUN) python -m bench.site.run

bench-storage: setup-bench-storage ## measure each remedy for a slow disk; write docs/storage-evidence.md (15 minutes, as root)
	@$(RUN) python -m bench.storage.run && python -m bench.storage.report

bench-storage-quick: setup-bench-storage-quick ## run a part of bench-storage, once, and print its tables (2 minutes, as root)
	@$(RUN) python -m bench.storage.run --quick && \
	  python -m bench.storage.report --print --results .headroom/bench-storage/quick.csv

bench-world: setup-bench-world ## lint 2,000 mutated files, and the public files in FILES=folder; write docs/policies/world.md (SET=blind-11 for one set)
	@$(RUN) HEADROOM_MUTANTS=2000 python -m pytest -q -p no:cacheprovider -s tests/policies/test_mutations.py
	@$(RUN) python -m bench.world.run $(or $(FILES),$(error FILES=folder says where the public files are)) $(SET:%=--set %) --write

##@ Install tools
setup: ## install what all targets need; `python3 -m tools.setup --list` lists the parts
	@python3 -m tools.setup
