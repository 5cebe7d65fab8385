# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_tls_info as Ansible runs it, on certificates made by openssl."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts
from ansible_collections.etcdops.headroom.plugins.module_utils._tls import inspection
from ansible_collections.etcdops.headroom.plugins.modules import etcd_tls_info

pytest.importorskip("cryptography")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def run(capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_tls_info.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert not result.get("changed")
    return result


def openssl(folder: Path, *arguments: str) -> None:
    """Run openssl in a folder."""
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(name="folder")
def folder_with_certificates(tmp_path: Path) -> Path:
    """ca.crt, other.crt (another CA), server.crt with server.key."""
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    for name in ("ca", "other"):
        openssl(
            tmp_path,
            "req",
            "-x509",
            *curve,
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.crt",
            "-days",
            "99",
            "-subj",
            f"/CN={name}",
        )
    openssl(tmp_path, "req", *curve, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=n1")
    (tmp_path / "ext").write_text("subjectAltName=DNS:n1,IP:10.0.0.11\nextendedKeyUsage=serverAuth\n", encoding="ascii")
    signing = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "90", "-extfile", "ext")
    openssl(tmp_path, "x509", "-req", "-in", "server.csr", "-out", "server.crt", *signing)
    return tmp_path


def server(folder: Path, **other: Any) -> dict[str, Any]:
    """The requirements on the server's certificate."""
    asked = {
        "name": "server",
        "certificate": str(folder / "server.crt"),
        "key": str(folder / "server.key"),
        "usages": ["server"],
    }
    return {**asked, "names": ["n1", "10.0.0.11"], **other}


def test_what_fits(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    text = (folder / "ca.crt").read_text(encoding="ascii")
    result = run(
        capsys, ca=text.strip(), ca_file=str(folder / "ca.crt"), certificates=[server(folder)], exact_names=True
    )
    assert result["problems"] == [] and result["certificates"]["server"]["fits"] and result["readable"]
    assert result["ca"]["installed"] and not result["ca"]["replaces"] and len(result["fingerprint"]) == 64
    assert not result["ca"]["differs"]
    assert "PRIVATE" not in json.dumps(result)


def test_another_authority_would_part_the_members(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    text = (folder / "other.crt").read_text(encoding="ascii")
    result = run(capsys, ca=text, ca_file=str(folder / "ca.crt"), certificates=[server(folder)])
    assert result["ca"]["replaces"] and not result["ca"]["installed"] and result["ca"]["differs"]
    assert result["problems"] == ["server: it is not signed by the CA"]


def test_a_host_without_anything(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    result = run(capsys, ca="", ca_file=str(tmp_path / "ca.crt"), certificates=[server(tmp_path)])
    assert result["problems"] == ["CA: it does not exist", "server: it does not exist"]
    assert result["fingerprint"] is None and not result["ca"]["replaces"] and not result["ca"]["differs"]


def test_a_ca_that_cannot_be_read_is_looked_at_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(inspection, "IMPORT_ERROR", "ImportError")
    none = [server(tmp_path / "none")]
    assert run(capsys, ca="", certificates=none)["ca"]["problems"] == ["it does not exist"]
    known = run(capsys, ca="a certificate", certificates=none)
    assert known["ca"]["problems"] == [] and not known["readable"]


@pytest.mark.parametrize(("present", "readable"), [(True, False), (False, True)])
def test_without_the_library(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    tmp_path: Path,
    present: bool,
    readable: bool,
) -> None:
    monkeypatch.setattr(inspection, "IMPORT_ERROR", "ImportError")
    result = run(capsys, ca="", certificates=[server(folder if present else tmp_path / "none")])
    assert result["readable"] is readable and not result["certificates"]["server"]["fits"]
    assert any("cryptography" in problem for problem in result["problems"]) is present


def test_the_first_certificates_lack_dropped_names_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = {"ca": "", "certificates": [server(tmp_path, names=["Etcd-1", "10.0.0.1"])], "dropped_names": ["10.0.0.1"]}
    names = run(capsys, **asked)["certificates"]["server"]["wanted_names"]
    monkeypatch.setattr(inspection, "IMPORT_ERROR", "ImportError")
    assert run(capsys, **asked)["certificates"]["server"]["wanted_names"] == names == ["etcd-1"]


@pytest.mark.parametrize(("keep_names", "problems"), [(True, ["server: it is not valid for 10.0.0.11"]), (False, [])])
def test_a_staged_certificate_may_lose_a_name_of_the_installed_one(
    capsys: pytest.CaptureFixture[str], folder: Path, keep_names: bool, problems: list[str]
) -> None:
    """If it is not issued here."""
    text = (folder / "ca.crt").read_text(encoding="ascii")
    staged = folder / "generation-1"
    staged.mkdir()
    shutil.copy(folder / "ca.crt", staged)
    shutil.copy(folder / "server.key", staged)
    (folder / "fewer").write_text("subjectAltName=DNS:n1\n", encoding="ascii")
    signing = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "90", "-extfile", "fewer")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-out", "generation-1/server.crt", *signing)
    result = run(
        capsys,
        ca=text,
        ca_file=str(folder / "ca.crt"),
        directory=str(folder),
        certificates=[server(folder, names=["n1"])],
        keep_names=keep_names,
    )
    assert result["staged"]["problems"] == problems and result["problems"] == []


def test_a_lost_ca_is_seen_without_the_library(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(inspection, "IMPORT_ERROR", "ImportError")
    asked = {"ca_file": str(folder / "ca.crt"), "certificates": [server(folder)]}
    assert run(capsys, ca="", **asked)["ca"]["replaces"]
    assert not run(capsys, ca="a certificate", **asked)["ca"]["replaces"]


def test_mode_and_owner_of_the_key_are_no_reason_for_a_new_certificate(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "server.key").chmod(0o644)
    text = (folder / "ca.crt").read_text(encoding="ascii")
    result = run(capsys, ca=text, certificates=[server(folder, key_mode="0640", key_group="root")])
    owner = facts.file_facts(str(folder / "server.key"))
    found = f"0644 {owner['owner']} {owner['group']}"
    assert result["problems"] == [f"server: its private key has {found}, not 0640 root root"]
    assert result["certificates"]["server"]["fits"]


def peers(folder: Path, text: str) -> dict[str, str]:
    """The CA that the peers have of their own, empty without one."""
    return {"ca": text, "ca_file": str(folder / "peer-ca.crt")}


def test_peers_that_share_the_ca_have_the_digest_of_before(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """A member restarts if its digest changes."""
    text = (folder / "ca.crt").read_text(encoding="ascii")
    asked = {"ca": text, "ca_file": str(folder / "ca.crt"), "certificates": [server(folder, peer=True)]}
    before, now = run(capsys, **asked), run(capsys, **asked, peer=peers(folder, ""))
    assert before["fingerprint"] == now["fingerprint"] and len(now["fingerprint"]) == 64
    assert before["ca"] == now["ca"] and now["peer_ca"] == {} and now["problems"] == []


def test_the_ca_of_peers_signs_no_other_certificate(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    other, text = ((folder / f"{name}.crt").read_text(encoding="ascii") for name in ("other", "ca"))
    (folder / "peer-ca.crt").write_text(text, encoding="ascii")
    asked = [server(folder, name="peer", peer=True), server(folder)]
    result = run(capsys, ca=other, ca_file=str(folder / "ca.crt"), certificates=asked, peer=peers(folder, text))
    assert result["problems"] == ["server: it is not signed by the CA"]
    assert result["peer_ca"]["installed"] and not result["peer_ca"]["replaces"]
    assert result["ca"]["replaces"] and result["ca"]["parts"] == ["server"]


def test_a_host_without_a_file_for_peers_trusts_them_by_the_ca(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """The first step away from one CA: the members trust both for peers."""
    other, text = ((folder / f"{name}.crt").read_text(encoding="ascii") for name in ("other", "ca"))
    asked = {"ca": text, "ca_file": str(folder / "ca.crt"), "certificates": [server(folder, peer=True)]}
    both = run(capsys, **asked, peer=peers(folder, text + other))["peer_ca"]
    assert not both["installed"] and not both["replaces"] and both["parts"] == [] and both["differs"]
    # Even for the same CA, a configuration that names the peers' file would name one that does not exist.
    assert run(capsys, **asked, peer=peers(folder, text))["peer_ca"]["differs"]
    (folder / "peer-ca.crt").write_text(other + text, encoding="ascii")
    assert not run(capsys, **asked, peer=peers(folder, text + other))["peer_ca"]["differs"]
    (folder / "peer-ca.crt").unlink()
    parted = run(capsys, **asked, peer=peers(folder, other))["peer_ca"]
    assert parted["replaces"] and parted["parts"] == ["server"]


def test_a_ca_of_peers_that_the_controller_lost(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    other, text = ((folder / f"{name}.crt").read_text(encoding="ascii") for name in ("other", "ca"))
    (folder / "peer-ca.crt").write_text(other, encoding="ascii")
    asked = {"ca": text, "ca_file": str(folder / "ca.crt"), "certificates": [server(folder, peer=True)]}
    lost = run(capsys, **asked, peer=peers(folder, ""))["peer_ca"]
    assert lost["replaces"] and not lost["installed"]
