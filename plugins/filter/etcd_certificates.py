# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters of role etcd_tls, over settings, CAs and certificates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_full_paths(provided: dict[str, Any], directory: str) -> dict[str, Any]:
    """Make the paths of provided files absolute; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import settings

    return settings.full_paths(provided, directory)


def etcd_tls_setting_problems(facts: Any) -> list[str]:
    """Check the settings of role etcd_tls; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import settings

    return settings.setting_problems(facts)


def etcd_certificate_problems(facts: Any) -> list[str]:
    """Check whether certificates can be kept or issued; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import problems

    return problems.certificate_problems(facts)


def etcd_reasons_to_sign(facts: Any) -> dict[str, list[str]]:
    """Return why CAs must sign; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import signing

    return {str(name): reasons for name, reasons in signing.reasons_to_sign(facts).items()}


def etcd_unsigned_requests(
    kinds: list[str], staged: dict[str, Any], authorities: dict[str, str], requests: str, signed: str
) -> list[str]:
    """Return the requests that have no valid certificate; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import signing

    return signing.unsigned_requests(kinds, staged, authorities, requests, signed)


def etcd_former_ca_problems(hosts: list[Any]) -> list[str]:
    """Report hosts with the CA of a former deployment; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import former

    return former.former_problems(hosts)


def etcd_ca_rotation_problems(facts: Any, of: str = "all", until: str = "end") -> list[str]:
    """Check whether CAs can be replaced; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import rotation

    return rotation.rotation_problems(facts, of, until)


def etcd_client_certificate_problems(application: Any, facts: Any) -> list[str]:
    """Check whether a client certificate can be issued; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._certificates import applications

    return applications.application_problems(application, facts)


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_full_paths": etcd_full_paths,
            "etcd_tls_setting_problems": etcd_tls_setting_problems,
            "etcd_certificate_problems": etcd_certificate_problems,
            "etcd_reasons_to_sign": etcd_reasons_to_sign,
            "etcd_unsigned_requests": etcd_unsigned_requests,
            "etcd_former_ca_problems": etcd_former_ca_problems,
            "etcd_ca_rotation_problems": etcd_ca_rotation_problems,
            "etcd_client_certificate_problems": etcd_client_certificate_problems,
        }
