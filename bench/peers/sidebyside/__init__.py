# SPDX-License-Identifier: Apache-2.0
"""Penstock, its peers and the limits in C by turns on the same workloads: what `bench/peers/run.py` is made of.

| module | holds |
|---|---|
| `sides` | processes that are measured, a round at a time |
| `measuring` | rounds by turns, calibration, company, memory |
| `workloads` | what is measured: the sides of each workload and what they are asked |
| `preparing` | what is built and written first; what is installed |
| `figures` | medians, spread, disturbed rounds, ratios |
| `aims` | what must hold, each a ratio of two figures |
| `report` | the table in Markdown |
| `picture` | the picture in SVG |
"""
