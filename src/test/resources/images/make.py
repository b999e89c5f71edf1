"""Writes the images beside it, and oracle.json: what Pillow reads in them, and what Pillow's resize makes of one.

    python make.py        needs Pillow, libturbojpeg, and cjpeg and jpegtran of libjpeg-turbo

PNG: every colour type, depth and interlace, with random filters, chunks cut anywhere, and transparent colours; written
here, for no library writes all of them. JPEG: what other writers than Pillow make.
"""
import ctypes
import hashlib
import io
import json
import pathlib
import random
import struct
import subprocess
import zlib

from PIL import Image, ImageOps

HERE = pathlib.Path(__file__).parent
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def packed(values, depth):
    if depth == 16:
        return b"".join(struct.pack(">H", v) for v in values)
    bits = "".join(format(v, f"0{depth}b") for v in values)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def filtered(rows, distance, rng):
    out, above = bytearray(), None
    for row in rows:
        up = above or bytes(len(row))
        kind = rng.randrange(5)
        out.append(kind)
        for i, v in enumerate(row):
            a = row[i - distance] if i >= distance else 0
            b = up[i]
            c = up[i - distance] if i >= distance else 0
            out.append((v - [0, a, b, (a + b) // 2, paeth(a, b, c)][kind]) % 256)
        above = row
    return bytes(out)


def png(width, height, color, depth, interlaced, extras, rng):
    n = CHANNELS[color]
    top = (1 << depth) - 1
    pixel = [[[rng.choice((0, top, rng.randint(0, top), (x * 7 + y * 5) % (top + 1))) for _ in range(n)]
              for x in range(width)] for y in range(height)]
    distance = max(1, n * depth // 8)
    raw = b""
    for x0, y0, dx, dy in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        rows = [packed([v for x in range(x0, width, dx) for v in pixel[y][x]], depth)
                for y in range(y0, height, dy)]
        if x0 < width:
            raw += filtered(rows, distance, rng)
    data = zlib.compress(raw, rng.randint(0, 9))
    body = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced))
    body += chunk(b"tEXt", b"Comment\0of no importance")
    if color == 3:
        body += chunk(b"PLTE", bytes(rng.randrange(256) for _ in range(3 << depth)))
    if extras and color in (0, 2):
        body += chunk(b"tRNS", b"".join(struct.pack(">H", v) for v in pixel[height // 2][width // 2]))
    if extras and color == 3:
        body += chunk(b"tRNS", bytes(rng.randrange(256) for _ in range(rng.randint(1, 1 << depth))))
    cut = 0
    while cut < len(data):
        length = rng.choice((0, 1, 7, 40, 1000)) if extras else len(data)
        body += chunk(b"IDAT", data[cut:cut + length])
        cut += length
    if extras:
        body += chunk(b"tIME", bytes(7))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


def sha(image):
    return hashlib.sha256(image.tobytes()).hexdigest()


def oracle(path):
    image = Image.open(path)
    image.load()
    truth = {"width": image.width, "height": image.height, "mode": image.mode}
    stored = image.convert("L") if image.mode == "1" else image
    truth["pixels_sha256"] = sha(stored)
    if image.mode != "I;16":
        truth["rgb_sha256"] = sha(image.convert("RGB"))
        truth["rgba_sha256"] = sha(image.convert("RGBA"))
        truth["gray_sha256"] = sha(image.convert("L"))
    return truth


def gradient(width, height):
    """Colours that a JPEG keeps well, and that show it when channels or sides are mixed up."""
    image = Image.new("RGB", (width, height))
    image.putdata([((x * 255) // width, (y * 255) // height, (x * y) % 97 * 2) for y in range(height)
                   for x in range(width)])
    return image


def ppm(image):
    out = io.BytesIO()
    image.save(out, "PPM")
    return out.getvalue()


def ycck(image, path):
    """TurboJPEG stores CMYK as YCCK, inverted as Adobe does."""
    turbo = ctypes.CDLL("libturbojpeg.so.0")
    turbo.tjInitCompress.restype = ctypes.c_void_p
    pixels = bytes(255 - v for v in image.convert("CMYK").tobytes())
    target, size = ctypes.c_void_p(), ctypes.c_ulong()
    status = turbo.tjCompress2(ctypes.c_void_p(turbo.tjInitCompress()), pixels, image.width, 0, image.height, 11,
                               ctypes.byref(target), ctypes.byref(size), 2, 90, 0)
    assert status == 0
    path.write_bytes(ctypes.string_at(target, size.value))


def noisy(name, size, **options):
    """Colours that change with every pixel: neighbours that are left out of a part show."""
    rng = random.Random(20261122)
    image = Image.frombytes("RGB", size, rng.randbytes(3 * size[0] * size[1]))
    small = image.resize((size[0] // 5, size[1] // 5), Image.Resampling.BICUBIC)
    Image.blend(image, small.resize(size, Image.Resampling.BICUBIC), 0.6).save(HERE / name, quality=90, **options)


def framed():
    """Parts of images, resized and perhaps mirrored, as Pillow does it."""
    found = []
    for name in ("noise_420.jpg", "noise_422_progressive.jpg", "orientation_6.jpg", "type2_8bit.png"):
        for upright in (False, True):
            image = Image.open(HERE / name)
            image = (ImageOps.exif_transpose(image) if upright else image).convert("RGB")
            width, height = image.size
            for part in ((0, 0, 1, 1), (.3, .2, .4, .5), (.51, .07, .12, .9), (.9, .8, .1, .2)):
                left, top = int(part[0] * width), int(part[1] * height)
                columns, rows = max(1, int(part[2] * width)), max(1, int(part[3] * height))
                cut = image.crop((left, top, left + columns, top + rows))
                for (w, h), kind in (((19, 23), "BILINEAR"), ((60, 5), "BICUBIC"), ((7, 40), "BOX")):
                    resized = cut.resize((w, h), getattr(Image.Resampling, kind))
                    found.append({"image": name, "upright": upright, "part": [top, left, rows, columns],
                                  "to": [h, w], "filter": kind, "sha256": sha(resized),
                                  "mirrored_sha256": sha(ImageOps.mirror(resized))})
    return found


def main():
    rng = random.Random(20261121)
    truths = {}
    kinds = [(0, d) for d in (1, 2, 4, 8, 16)] + [(3, d) for d in (1, 2, 4, 8)] + [
        (c, d) for c in (2, 4, 6) for d in (8, 16)]
    for color, depth in kinds:
        for interlaced in (0, 1):
            for extras in (0, 1):
                name = f"type{color}_{depth}bit{'_adam7' * interlaced}{'_extras' * extras}.png"
                size = (rng.randint(1, 19), rng.randint(1, 19)) if extras else (13, 11)
                (HERE / name).write_bytes(png(*size, color, depth, interlaced, extras, rng))
                truths[name] = oracle(HERE / name)

    def jpeg(name, *command):
        source = gradient(37, 29)
        (HERE / name).write_bytes(subprocess.run(command, input=ppm(source), stdout=subprocess.PIPE,
                                                 check=True).stdout)
        truths[name] = oracle(HERE / name)
    jpeg("adobe_rgb.jpg", "cjpeg", "-rgb", "-quality", "95")
    jpeg("sampled_440.jpg", "cjpeg", "-sample", "1x2", "-quality", "95")
    jpeg("sampled_411.jpg", "cjpeg", "-sample", "4x1", "-quality", "95")
    jpeg("sampled_410.jpg", "cjpeg", "-sample", "4x2", "-quality", "95")
    jpeg("chroma_finer_than_luma.jpg", "cjpeg", "-sample", "1x1,2x2,2x2", "-quality", "95")
    jpeg("gray_progressive.jpg", "cjpeg", "-grayscale", "-progressive", "-quality", "95")
    jpeg("arithmetic.jpg", "cjpeg", "-arithmetic", "-quality", "95")
    jpeg("restarts_420.jpg", "cjpeg", "-sample", "2x2", "-restart", "1B", "-quality", "95")
    ycck(gradient(37, 29), HERE / "ycck.jpg")
    truths["ycck.jpg"] = oracle(HERE / "ycck.jpg")
    for orientation in range(1, 9):
        name = f"orientation_{orientation}.jpg"
        exif = Image.Exif()
        exif[0x0110] = "a camera"
        exif[0x0112] = orientation
        gradient(24, 16).save(HERE / name, quality=95, subsampling=0, exif=exif)
        truths[name] = oracle(HERE / name)
        upright = ImageOps.exif_transpose(Image.open(HERE / name))
        truths[name]["upright"] = {"width": upright.width, "height": upright.height, "pixels_sha256": sha(upright)}

    for name, options in (("noise_420.jpg", {"subsampling": 2}),
                          ("noise_422_progressive.jpg", {"subsampling": 1, "progressive": True})):
        noisy(name, (150, 109), **options)
        truths[name] = oracle(HERE / name)

    resized = []
    for mode in ("RGB", "L"):
        bands = len(mode) if mode == "RGB" else 1
        for (w, h), (tw, th) in [((50, 37), (20, 11)), ((50, 37), (51, 36)), ((50, 37), (50, 12)), ((50, 37), (9, 37)),
                                 ((3, 2), (17, 23)), ((1, 1), (5, 5)), ((97, 64), (1, 1)), ((500, 375), (224, 168)),
                                 ((8, 8), (8, 8)), ((300, 5), (7, 9))]:
            pixels = bytes((i * i * 31 + i * 7 + (i >> 5)) % 256 for i in range(w * h * bands))
            image = Image.frombytes(mode, (w, h), pixels)
            for name, filter in (("BILINEAR", Image.Resampling.BILINEAR), ("BOX", Image.Resampling.BOX),
                                 ("BICUBIC", Image.Resampling.BICUBIC)):
                resized.append({"channels": bands, "from": [w, h], "to": [tw, th], "filter": name,
                                "sha256": sha(image.resize((tw, th), filter))})
    fitted = []
    for name in ("orientation_1.jpg", "orientation_6.jpg", "orientation_7.jpg", "sampled_411.jpg",
                 "type2_8bit_adam7.png"):
        for upright in (False, True):
            image = Image.open(HERE / name)
            image = (ImageOps.exif_transpose(image) if upright else image).convert("RGB")
            for height, width in ((9, 14), (20, 5)):
                fitted.append({"image": name, "upright": upright, "height": height, "width": width,
                               "sha256": sha(image.resize((width, height), Image.Resampling.BILINEAR))})
            for side, height, width in ((14, 9, 14), (31, 10, 8)):
                # torchvision's Resize and CenterCrop, in their own arithmetic.
                w, h = image.size
                w, h = (side, int(side * h / w)) if w <= h else (int(side * w / h), side)
                top, left = int(round((h - height) / 2.0)), int(round((w - width) / 2.0))
                cut = image.resize((w, h), Image.Resampling.BILINEAR).crop((left, top, left + width, top + height))
                fitted.append({"image": name, "upright": upright, "shorter_side": side, "height": height,
                               "width": width, "sha256": sha(cut)})
    found = {"images": truths, "resized": resized, "fitted": fitted, "framed": framed()}
    (HERE / "oracle.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
