// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Sha256;
import io.penstock.io.publish.NativeBytes;
import io.penstock.memory.LittleEndian;
import io.penstock.os.PathBytes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The files of a folder that are records, by their relative paths, in the order of the paths' bytes. There may be
 * millions, so the paths are in native memory.
 *
 * <p>In a folder {@linkplain TreeWalk#isOfImages of images}, files by suffix, as in torchvision's {@code ImageFolder}:
 * others are left out and counted, and links are followed, also out of the folder. Images directly in the folder are
 * left out too if more are in folders below, which then are classes. In another folder all files, and of links those
 * to files below it.
 */
final class FileList {

    private static final int HEX_DIGITS = 32;

    private final Path root;
    private final boolean ofImages;
    private final List<byte[]> topFolders;
    private final Map<String, Long> endings;
    private final Map<String, byte[]> examples;
    /** The start of each file's path in {@link #paths}, then the end of the last one. */
    private final MemorySegment starts;
    private final MemorySegment paths;
    private final String digest;
    private final boolean filesAtTop;
    private final long size;
    private final long totalBytes;
    private final LeftOut skippedFiles = new LeftOut("file that is no image", "files that are no images");
    private final LeftOut skippedAtTop = new LeftOut("image beside the folders of classes",
            "images beside the folders of classes");
    private final LeftOut skippedLinks;
    private final LeftOut skippedSpecial;
    private final long skippedHidden;
    /** In a folder with images that is none of images: why. */
    private final String mixture;

    /**
     * Lists a folder; the paths are in the arena's memory.
     *
     * @param allFiles whether all files are records, also in a folder of images
     */
    static FileList of(Path root, Arena arena, boolean allFiles) throws IOException {
        try (TreeWalk inner = new TreeWalk(root, false)) {
            if (!allFiles && inner.mayBeOfImages()) {
                try (TreeWalk all = new TreeWalk(root, true)) {
                    if (all.isOfImages()) {
                        return new FileList(root, arena, all, true);
                    }
                }
            }
            return new FileList(root, arena, inner, !allFiles && inner.isOfImages());
        }
    }

    private FileList(Path root, Arena arena, TreeWalk walk, boolean ofImages) throws IOException {
        this.root = root;
        this.ofImages = ofImages || walk.isAllImages();
        this.topFolders = List.copyOf(walk.topFolders);
        this.endings = new HashMap<>(walk.endings);
        this.examples = new HashMap<>(walk.examples);
        boolean onlyBelow = ofImages && !topFolders.isEmpty() && walk.imagesAtTop < walk.images() - walk.imagesAtTop;
        this.filesAtTop = ofImages ? walk.imagesAtTop > 0 && !onlyBelow : walk.filesAtTop > 0;
        if (ofImages && !filesAtTop && walk.brokenAtTop != null) {
            throw new MalformedStoreException(root, "the link " + walk.brokenAtTop + ", which leads nowhere", "one to a"
                    + " folder: without this class the others would have other numbers (mend the link or remove it)");
        }
        this.skippedLinks = walk.links;
        this.skippedSpecial = walk.special;
        this.skippedHidden = walk.hidden;
        this.mixture = this.ofImages || walk.images() == 0 ? "" : walk.images() + " of " + walk.size()
                + " files are images (" + walk.other + " is none), too few for a folder of images, or others are beside"
                + " them: all files are records";
        MessageDigest sha256 = Sha256.digest();
        long files = 0;
        long bytes = 0;
        try (NativeBytes kept = new NativeBytes(); NativeBytes firsts = new NativeBytes()) {
            MemorySegment from = walk.starts.written();
            for (long i = 0; i < walk.size(); i++) {
                long start = from.get(LittleEndian.I64, i * Long.BYTES);
                long end = i + 1 < walk.size() ? from.get(LittleEndian.I64, (i + 1) * Long.BYTES)
                        : walk.paths.byteSize();
                byte[] path = walk.paths.written().asSlice(start, end - start).toArray(ValueLayout.JAVA_BYTE);
                if (ofImages && isLeftOut(PathBytes.text(path), onlyBelow)) {
                    continue;
                }
                long fileBytes = walk.sizes.written().get(LittleEndian.I64, i * Long.BYTES);
                firsts.putLong(kept.byteSize());
                kept.put(path);
                sha256.update(path);
                sha256.update(("\n" + fileBytes + "\n").getBytes(StandardCharsets.US_ASCII));
                files++;
                bytes += fileBytes;
            }
            firsts.putLong(kept.byteSize());
            this.starts = arena.allocate(firsts.byteSize(), Long.BYTES).copyFrom(firsts.written());
            this.paths = arena.allocate(Math.max(1, kept.byteSize()));
            kept.copyTo(paths, 0);
        }
        this.size = files;
        this.totalBytes = bytes;
        this.digest = Sha256.hex(sha256).substring(0, HEX_DIGITS);
        if (ofImages) {
            endings.keySet().retainAll(TreeWalk.IMAGES);
            examples.keySet().retainAll(TreeWalk.IMAGES);
        }
    }

    private boolean isLeftOut(String path, boolean onlyBelow) {
        if (!TreeWalk.isImage(path)) {
            skippedFiles.add(path);
            return true;
        }
        if (onlyBelow && path.indexOf('/') < 0) {
            skippedAtTop.add(path);
            return true;
        }
        return false;
    }

    long size() {
        return size;
    }

    /** Returns a file's path relative to the folder, with slashes; for messages, see {@link PathBytes#text}. */
    String path(long file) {
        return PathBytes.text(pathBytes(file));
    }

    /** Returns the bytes of a file's path relative to the folder, with slashes. */
    byte[] pathBytes(long file) {
        long start = starts.get(LittleEndian.I64, file * Long.BYTES);
        return paths.asSlice(start, starts.get(LittleEndian.I64, (file + 1) * Long.BYTES) - start)
                .toArray(ValueLayout.JAVA_BYTE);
    }

    /** Returns where a file is. */
    Path file(long file) {
        return PathBytes.resolve(root, pathBytes(file));
    }

    /** Returns the first file whose path is not before a folder's name and one more character. */
    long firstFrom(byte[] folder, char next) {
        byte[] wanted = Arrays.copyOf(folder, folder.length + 1);
        wanted[folder.length] = (byte) next;
        long low = 0;
        long high = size;
        while (low < high) {
            long middle = low + high >>> 1;
            if (Arrays.compareUnsigned(pathBytes(middle), wanted) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    Path root() {
        return root;
    }

    /** Returns the names of the folders directly below, sorted; those without files included. */
    List<byte[]> topFolders() {
        return topFolders.stream().sorted(Arrays::compareUnsigned).toList();
    }

    boolean filesAtTop() {
        return filesAtTop;
    }

    boolean isOfImages() {
        return ofImages;
    }

    /** Returns the number of files by ending: the text after the last dot, in lower case. */
    Map<String, Long> endings() {
        return endings;
    }

    /** Returns the first file of each ending. */
    List<Path> examples() {
        return examples.values().stream().map(path -> PathBytes.resolve(root, path)).sorted().toList();
    }

    long skippedLinks() {
        return skippedLinks.count();
    }

    long skippedFiles() {
        return skippedFiles.count() + skippedAtTop.count() + skippedSpecial.count();
    }

    long skippedHidden() {
        return skippedHidden;
    }

    /** Returns what is left out, for messages; empty if nothing is but hidden entries. */
    String leftOut() {
        List<String> parts = new ArrayList<>();
        for (LeftOut each : List.of(skippedLinks, skippedFiles, skippedAtTop, skippedSpecial)) {
            if (each.count() > 0) {
                parts.add(each.toString());
            }
        }
        if (skippedHidden > 0) {
            parts.add(skippedHidden + " hidden");
        }
        return String.join(", ", parts);
    }

    /** Returns why a folder with images is none of images, for messages; empty for other folders. */
    String mixture() {
        return mixture;
    }

    long totalBytes() {
        return totalBytes;
    }

    /** Returns a digest of all paths and sizes. */
    String digest() {
        return digest;
    }
}
