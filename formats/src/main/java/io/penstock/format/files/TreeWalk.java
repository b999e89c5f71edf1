// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.files;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.local.HiddenNames;
import io.penstock.io.publish.NativeBytes;
import io.penstock.os.PathBytes;
import io.penstock.store.integrity.BlockChecksums;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One walk through a folder: its files by the bytes of their relative paths, in the order of these, and counts of all
 * that it met. {@linkplain HiddenNames Hidden} files and folders are left out, and checksum sidecars. A link is
 * followed if it leads to a file below the same folder; if all links are followed, also to any folder, and by the name
 * of an image to any regular file. A folder is not walked inside itself, whatever links lead there.
 */
final class TreeWalk implements AutoCloseable {

    /** The endings that torchvision's {@code ImageFolder} accepts. */
    static final Set<String> IMAGES = Set.of("jpg", "jpeg", "png", "ppm", "bmp", "pgm", "tif", "tiff", "webp");
    /** If one in so many images has a file of another kind beside it, the samples are of several files. */
    private static final int SIDECARS = 4;
    private static final int MAX_DEPTH = 64;
    /** ImageNet-21k made of links has 21,841. Nested links could multiply without end. */
    private static final int MAX_FOLDER_LINKS = 1_000_000;
    /** After this many different endings, others count as none. */
    private static final int MAX_ENDINGS = 1000;

    /** A folder's entry. The bytes of its name are the sort key; a folder's name ends with a slash. */
    private record Item(byte[] sortKey, Path path, BasicFileAttributes attributes) {
    }

    final NativeBytes paths = new NativeBytes();
    /** The start of each file's path. */
    final NativeBytes starts = new NativeBytes();
    final NativeBytes sizes = new NativeBytes();
    /** The names of the folders directly below. */
    final List<byte[]> topFolders = new ArrayList<>();
    final Map<String, Long> endings = new HashMap<>();
    /** The path of the first file of each ending. */
    final Map<String, byte[]> examples = new HashMap<>();
    final LeftOut links = new LeftOut("link", "links");
    final LeftOut special = new LeftOut("entry that is neither a file nor a folder",
            "entries that are neither files nor folders");
    long hidden;
    long filesAtTop;
    long imagesAtTop;
    /** A link directly in the folder that may stand for a folder but leads nowhere. */
    @Nullable String brokenAtTop;

    private final boolean followsAll;
    private final Path realRoot;
    /** The identities of the folders from the root to the one that is walked. */
    private final Deque<Object> open = new ArrayDeque<>();
    private int folderLinks;
    private long imageLinks;
    private long images;
    private long others;
    /** Runs of files whose paths are the same up to the first dot of the name: with an image, and with others too. */
    private long imageGroups;
    private long mixedGroups;
    private String group = "";
    private boolean groupHasImage;
    private boolean groupHasOther;
    /** The first file that is no image. */
    @Nullable String other;

    TreeWalk(Path root, boolean followsAll) throws IOException {
        this.followsAll = followsAll;
        this.realRoot = root.toRealPath();
        try {
            walk(root, identity(root, Files.readAttributes(root, BasicFileAttributes.class)), "", new byte[0]);
            endGroup();
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    static boolean isImage(String path) {
        return IMAGES.contains(ending(path));
    }

    /** Returns the text after the last dot of a name, in lower case; empty for a name that only begins with a dot. */
    private static String ending(String path) {
        int dot = path.lastIndexOf('.');
        return dot < path.lastIndexOf('/') + 2 ? "" : path.substring(dot + 1).toLowerCase(Locale.ROOT);
    }

    /**
     * Tells whether the files are images but for some that strayed in: most are images, by their suffixes, and fewer
     * than a quarter of the images have a file beside them that differs only in its suffix, such as a text: those are
     * samples of several files.
     */
    boolean isOfImages() {
        return images + imageLinks > others && SIDECARS * mixedGroups < Math.max(1, imageGroups);
    }

    /** Tells whether the folder may be one of images if all links are followed. */
    boolean mayBeOfImages() {
        return links.count() > 0 && (isOfImages() || images == 0 && others <= links.count());
    }

    boolean isAllImages() {
        return others == 0 && images > 0;
    }

    long size() {
        return images + others;
    }

    long images() {
        return images;
    }

    private void walk(Path folder, Object identity, String prefix, byte[] prefixBytes) throws IOException {
        if (open.size() > MAX_DEPTH) {
            throw new MalformedStoreException(folder, "folders nested more than " + MAX_DEPTH + " deep",
                    "fewer (is this a folder of data?)");
        }
        open.addLast(identity);
        for (Item item : items(folder, prefix)) {
            byte[] path = Arrays.copyOf(prefixBytes, prefixBytes.length + item.sortKey.length);
            System.arraycopy(item.sortKey, 0, path, prefixBytes.length, item.sortKey.length);
            String text = PathBytes.text(path);
            if (item.attributes.isDirectory()) {
                if (prefix.isEmpty()) {
                    topFolders.add(Arrays.copyOf(path, path.length - 1));
                }
                walk(item.path, identity(item.path, item.attributes), text, path);
            } else {
                add(path, text, item.attributes.size());
            }
        }
        open.removeLast();
    }

    private static Object identity(Path folder, BasicFileAttributes attributes) throws IOException {
        Object key = attributes.fileKey();
        return key != null ? key : folder.toRealPath();
    }

    private List<Item> items(Path folder, String prefix) throws IOException {
        List<Item> items = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            for (Path path : stream) {
                byte[] name = PathBytes.ofName(path);
                BasicFileAttributes attributes = attributes(path, prefix, PathBytes.text(name));
                if (attributes != null) {
                    byte[] key = attributes.isDirectory() ? Arrays.copyOf(name, name.length + 1) : name;
                    if (attributes.isDirectory()) {
                        key[name.length] = '/';
                    }
                    items.add(new Item(key, path, attributes));
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        items.sort(Comparator.comparing(Item::sortKey, Arrays::compareUnsigned));
        return items;
    }

    /** Returns what an entry is, or a link leads to; null if it is left out. */
    private @Nullable BasicFileAttributes attributes(Path path, String prefix, String name) throws IOException {
        if (name.endsWith(BlockChecksums.SUFFIX)) {
            return null;
        }
        if (HiddenNames.isHidden(name, sibling -> exists(path, sibling))) {
            hidden++;
            return null;
        }
        BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (found.isSymbolicLink()) {
            found = target(path, prefix, name);
        }
        if (found == null || found.isRegularFile() || found.isDirectory()) {
            return found;
        }
        special.add(prefix + name);
        return null;
    }

    private static boolean exists(Path path, String sibling) {
        try {
            return Files.exists(path.resolveSibling(sibling));
        } catch (InvalidPathException _) {                      // beyond the locale's charset
            return false;
        }
    }

    private @Nullable BasicFileAttributes target(Path link, String prefix, String name) throws IOException {
        Path real;
        BasicFileAttributes found;
        try {
            real = link.toRealPath();
            found = Files.readAttributes(link, BasicFileAttributes.class);
        } catch (IOException _) {
            if (prefix.isEmpty() && name.indexOf('.') < 0) {
                brokenAtTop = name;
            }
            links.add(prefix + name + " leads nowhere");
            return null;
        }
        if (found.isDirectory()) {
            if (open.contains(identity(link, found))) {
                links.add(prefix + name + " leads back to a folder above it");
                return null;
            }
            if (followsAll && ++folderLinks > MAX_FOLDER_LINKS) {
                throw new MalformedStoreException(link, "more than " + MAX_FOLDER_LINKS + " links to folders",
                        "fewer (do they lead through one another?)");
            }
        } else if (real.startsWith(realRoot)) {
            return found;
        }
        boolean isImage = !found.isDirectory() && isImage(name);
        imageLinks += !followsAll && isImage ? 1 : 0;
        if (followsAll && (isImage || found.isDirectory())) {
            return found;
        }
        links.add(prefix + name + (found.isDirectory() ? " leads to a folder" : " leads out of the folder"));
        return null;
    }

    private void add(byte[] path, String text, long bytes) {
        starts.putLong(paths.byteSize());
        paths.put(path);
        sizes.putLong(bytes);
        String ending = ending(text);
        boolean isImage = IMAGES.contains(ending);
        boolean isAtTop = text.indexOf('/') < 0;
        images += isImage ? 1 : 0;
        others += isImage ? 0 : 1;
        filesAtTop += isAtTop ? 1 : 0;
        imagesAtTop += isAtTop && isImage ? 1 : 0;
        String counted = endings.size() < MAX_ENDINGS || endings.containsKey(ending) ? ending : "";
        endings.merge(counted, 1L, Long::sum);
        examples.putIfAbsent(counted, path);
        int dot = text.indexOf('.', text.lastIndexOf('/') + 1);
        String stem = dot < 0 ? text : text.substring(0, dot);
        if (!stem.equals(group)) {
            endGroup();
            group = stem;
        }
        groupHasImage |= isImage;
        // 1.jpg.part is no text of 1.jpg
        groupHasOther |= !isImage && dot >= 0 && !IMAGES.contains(text.substring(dot + 1).split("\\.", 2)[0]
                .toLowerCase(Locale.ROOT));
        if (!isImage && other == null) {
            other = text;
        }
    }

    private void endGroup() {
        imageGroups += groupHasImage ? 1 : 0;
        mixedGroups += groupHasImage && groupHasOther ? 1 : 0;
        groupHasImage = false;
        groupHasOther = false;
    }

    @Override
    public void close() {
        paths.close();
        starts.close();
        sizes.close();
    }
}
