# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arithmetic of the memory model: every formula, once.

Private to the collection. Pure, and integers only. tools/rego_from_formulas.py renders policies/lib/formulas from the syntax
trees of these files, and the table of formulas in docs/memory-model.md, in the order of their layers in pyproject.toml, lowest
first; it refuses everything outside this subset:

- a function assigns names, then returns one expression
- expressions use + - * //, min, max, the functions of arithmetic.py, other formulas, and the records of records.py, by keyword
- a conditional expression stands directly behind `return`, and its conditions compare, or name a flag

A product that may pass 2^63 is written with scale_up or permille, because OPA's numbers are exact only up to there. A formula
takes the constants of one series, at one end of their ranges: with CONSTANTS_LOW it returns the low end of a figure, with
CONSTANTS_HIGH the high one. model/memory.yml has each constant with its source. Formulas hold for 3.5, 3.6 and 3.7, unless
"Releases" says otherwise; a source without a host is a path in etcd's repository.
"""
