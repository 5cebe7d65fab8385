"""Set-up: what belongs here is whatever puts a pinned tool on this machine; the list of targets is in `targets.py`.

Runs on the standard library alone, before there is a virtual environment: `python3 -m tools.setup NAME…` in the project's folder.
"""
