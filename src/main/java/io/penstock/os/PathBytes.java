// SPDX-License-Identifier: Apache-2.0
package io.penstock.os;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The names of files as the bytes that the OS has. A path's text is decoded by the locale's charset: bytes that are
 * not in it become replacement characters, and a path that is made of that text names another file. The URI of a path
 * keeps the bytes.
 */
public final class PathBytes {

    private static final char REPLACEMENT = '\ufffd';
    private static final String HEX = "0123456789ABCDEF";
    /** The charset of file names in this JVM. */
    private static final String CHARSET = System.getProperty("sun.jnu.encoding", "UTF-8");
    private static final boolean IS_UTF_8 = CHARSET.equals("UTF-8");

    private PathBytes() {
    }

    /** {@return whether a path made of this path's text names the same file} */
    public static boolean isText(Path path) {
        String text = path.toString();
        if (isAscii(text) || path.getFileSystem() != FileSystems.getDefault()) {
            return true;
        }
        return text.indexOf(REPLACEMENT) < 0 ? IS_UTF_8 || Charset.forName(CHARSET).newEncoder().canEncode(text)
                : IS_UTF_8 && new String(raw(path), StandardCharsets.ISO_8859_1)
                        .endsWith(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
    }

    /** {@return the bytes of a file's own name; in UTF-8 if the OS has names of characters} */
    public static byte[] ofName(Path path) {
        String name = path.getFileName().toString();
        return isAscii(name) || IS_UTF_8 && isText(path.getFileName()) ? name.getBytes(StandardCharsets.UTF_8)
                : lastPart(raw(path));
    }

    /** {@return the bytes of a path for a system call} An absolute path may stand for a relative one. */
    static byte[] of(Path path) {
        return isAscii(path.toString()) || IS_UTF_8 && isText(path) ? path.toString().getBytes(StandardCharsets.UTF_8)
                : raw(path);
    }

    /** {@return the file in or below a folder whose relative path has these bytes} */
    public static Path resolve(Path folder, byte[] relative) {
        String text = new String(relative, StandardCharsets.UTF_8);
        if (isAscii(text) || folder.getFileSystem() != FileSystems.getDefault() || IS_UTF_8 && isUtf8(relative)) {
            return folder.resolve(text);
        }
        String parent = folder.toUri().toString();
        return Path.of(URI.create((parent.endsWith("/") ? parent : parent + "/") + escaped(relative, false)));
    }

    /** {@return a name for messages: the text, with each byte beyond ASCII as {@code %E9} if it is not UTF-8} */
    public static String text(byte[] name) {
        return isUtf8(name) ? new String(name, StandardCharsets.UTF_8) : escaped(name, true);
    }

    /** {@return what is wrong with a text that is no path, and what to do} */
    public static String explain(InvalidPathException e) {
        return isAscii(e.getInput()) || IS_UTF_8 ? e.getReason() + ": " + e.getInput()
                : "found a name of a file with characters beyond " + CHARSET + ", the charset of this JVM's locale:"
                + " start it with the environment variable LC_ALL=C.UTF-8";
    }

    /** {@return why a file cannot be named by text} The opposite of {@link #isText}. */
    public static String whyNotText() {
        return IS_UTF_8 ? "a name that is not UTF-8, expected UTF-8 (rename the file)"
                : "a name with characters beyond " + CHARSET
                + ", the charset of this JVM's locale: start it with the environment variable LC_ALL=C.UTF-8";
    }

    private static byte[] lastPart(byte[] path) {
        int end = path.length > 1 && path[path.length - 1] == '/' ? path.length - 1 : path.length;
        int start = end;
        while (start > 0 && path[start - 1] != '/') {
            start--;
        }
        return Arrays.copyOfRange(path, start, end);
    }

    /** The bytes of the absolute path: those of its URI. */
    private static byte[] raw(Path path) {
        String escaped = path.toUri().getRawPath();
        ByteBuffer bytes = ByteBuffer.allocate(escaped.length());
        for (int i = 0; i < escaped.length(); i++) {
            if (escaped.charAt(i) == '%') {
                bytes.put((byte) Integer.parseInt(escaped, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.put((byte) escaped.charAt(i));
            }
        }
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    private static String escaped(byte[] bytes, boolean onlyBeyondAscii) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            boolean isPlain = onlyBeyondAscii ? b >= 0 : b == '/' || b > 0 && Character.isLetterOrDigit(b);
            if (isPlain) {
                text.append((char) b);
            } else {
                text.append('%').append(HEX.charAt((b & 0xFF) >>> 4)).append(HEX.charAt(b & 0xF));
            }
        }
        return text.toString();
    }

    private static boolean isUtf8(byte[] bytes) {
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException _) {
            return false;
        }
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }
}
