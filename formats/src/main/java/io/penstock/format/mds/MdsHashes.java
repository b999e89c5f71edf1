// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import io.penstock.error.MalformedStoreException;
import io.penstock.store.Progress;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Compares files with the digests in an index: those of the JDK, and xxh64. */
final class MdsHashes {

    static final String CHECK = "index hashes";
    private static final System.Logger LOG = System.getLogger(MdsStore.class.getName());
    private static final int BUFFER_BYTES = 1 << 20;
    private static final String XXH64 = "xxh64";

    /** Tells whether a file has a digest that can be checked. */
    static boolean areIn(List<MdsShard.Part> parts) {
        return parts.stream().anyMatch(part -> !hashes(part).isEmpty());
    }

    private static List<Hash> hashes(MdsShard.Part part) {
        List<Hash> hashes = new ArrayList<>();
        part.hashes().forEach((name, expected) -> {
            Hash hash = Hash.of(name, expected);
            if (hash == null) {
                LOG.log(System.Logger.Level.DEBUG, "{0}: its {1} is not checked", part.path(), name);
            } else {
                hashes.add(hash);
            }
        });
        return hashes;
    }

    static void verify(List<MdsShard.Part> parts, Consumer<Fault> faults, Progress progress) throws IOException {
        long total = parts.stream().mapToLong(MdsShard.Part::bytes).sum();
        byte[] chunk = new byte[BUFFER_BYTES];
        long before = 0;
        for (MdsShard.Part part : parts) {
            List<Hash> hashes = hashes(part);
            if (!hashes.isEmpty()) {
                long done = before;
                try (InputStream in = part.path().newInputStream()) {
                    for (int read = in.readNBytes(chunk, 0, chunk.length); read > 0;
                            read = in.readNBytes(chunk, 0, chunk.length)) {
                        for (Hash hash : hashes) {
                            hash.update(chunk, read);
                        }
                        done += read;
                        progress.update(done, total);
                    }
                }
            }
            for (Hash hash : hashes) {
                String found = hash.hex();
                if (!found.equalsIgnoreCase(hash.expected)) {
                    faults.accept(new Fault(part.path(), CHECK, new MalformedStoreException(part.path(),
                            hash.name + " " + found, hash.expected + ", as the index has it").getMessage()));
                }
            }
            before += part.bytes();
        }
    }

    private static final class Hash {

        private final String name;
        private final String expected;
        /** Null for xxh64. */
        private final @Nullable MessageDigest digest;
        private final Xxh64 xxh64 = new Xxh64(0);

        private Hash(String name, String expected, @Nullable MessageDigest digest) {
            this.name = name;
            this.expected = expected;
            this.digest = digest;
        }

        /** Returns null if the JDK lacks the algorithm. */
        static @Nullable Hash of(String name, String expected) {
            if (name.equals(XXH64)) {
                return new Hash(name, expected, null);
            }
            // hashlib's sha1, sha3_256, md5 are the JDK's SHA-1, SHA3-256, MD5.
            String upper = name.toUpperCase(Locale.ROOT);
            String javaName = upper.startsWith("SHA3_") ? upper.replace('_', '-') : upper.replaceFirst("^SHA", "SHA-");
            try {
                return new Hash(name, expected, MessageDigest.getInstance(javaName));
            } catch (NoSuchAlgorithmException _) {
                return null;
            }
        }

        void update(byte[] bytes, int length) {
            if (digest != null) {
                digest.update(bytes, 0, length);
            } else {
                xxh64.update(bytes, 0, length);
            }
        }

        String hex() {
            return digest != null ? HexFormat.of().formatHex(digest.digest())
                    : HexFormat.of().toHexDigits(xxh64.value());
        }
    }
}
