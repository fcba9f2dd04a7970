"""Archives that come out byte for byte the same from the same input: sorted names, one time, no owner."""

import gzip
import io
import re
import tarfile
import time
import zipfile

# The first moment that a zip archive can name.
ZIP_EPOCH = 315532800


def tar_gz(files, epoch):
    """A .tar.gz of `files`, which maps a name to (content, mode)."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (content, mode) in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(content), mode, epoch
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(raw.getvalue(), compresslevel=6, mtime=epoch)


def zip_archive(files, epoch):
    """A .zip of `files`, which maps a name to (content, mode); in their order, which a wheel gives a meaning."""
    raw = io.BytesIO()
    moment = time.gmtime(max(epoch, ZIP_EPOCH))[:6]
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, (content, mode) in files.items():
            member = zipfile.ZipInfo(name, moment)
            member.create_system, member.external_attr = 3, (0o100000 | mode) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return raw.getvalue()


def filled_in(template, values):
    """The text of the file `template`, each `@NAME@` replaced by its value."""

    def value(match):
        try:
            return values[match[1]]
        except KeyError:
            raise SystemExit(f"error: {template} names @{match[1]}@, which has no value") from None

    return re.sub(r"@([A-Z][A-Z0-9_]*)@", value, template.read_text())
