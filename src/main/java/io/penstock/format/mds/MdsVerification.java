package io.penstock.format.mds;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import io.penstock.store.Progress;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The result of {@link MdsStore#verify}.
 *
 * @param files the number of files read
 * @param hashes the number of digests that match the index
 * @param unknown the algorithms, by Python's name, of digests that were not checked
 */
public record MdsVerification(long files, long hashes, Set<String> unknown) {

    private static final int BUFFER_BYTES = 1 << 20;
    private static final String XXH64 = "xxh64";

    /** Copies. */
    public MdsVerification {
        unknown = Set.copyOf(unknown);
    }

    /** Takes a file whose digest is another than the index has. */
    @FunctionalInterface
    interface Refusal {

        void accept(Location file, MalformedStoreException found) throws IOException;
    }

    /** Whether any of the files has a digest that can be checked. */
    static boolean hasHashes(List<MdsShard.Part> parts) {
        return parts.stream().flatMap(part -> part.hashes().entrySet().stream())
                .anyMatch(hash -> Hash.of(hash.getKey(), hash.getValue()) != null);
    }

    static MdsVerification of(List<MdsShard.Part> parts, Progress progress, Refusal refusal) throws IOException {
        long total = parts.stream().mapToLong(MdsShard.Part::bytes).sum();
        TreeSet<String> unknown = new TreeSet<>();
        long files = 0;
        long hashes = 0;
        long done = 0;
        for (MdsShard.Part part : parts) {
            List<Hash> checked = new ArrayList<>();
            for (Map.Entry<String, String> hash : part.hashes().entrySet()) {
                Hash known = Hash.of(hash.getKey(), hash.getValue());
                if (known == null) {
                    unknown.add(hash.getKey());
                } else {
                    checked.add(known);
                }
            }
            if (!checked.isEmpty()) {
                check(part, checked, done, total, progress, refusal);
                files++;
                hashes += checked.size();
            }
            done += part.bytes();
        }
        return new MdsVerification(files, hashes, unknown);
    }

    private static void check(MdsShard.Part part, List<Hash> hashes, long before, long total, Progress progress,
            Refusal refusal) throws IOException {
        byte[] chunk = new byte[BUFFER_BYTES];
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
        for (Hash hash : hashes) {
            String found = hash.hex();
            if (!found.equalsIgnoreCase(hash.expected)) {
                refusal.accept(part.path(), new MalformedStoreException(part.path(), hash.name + " " + found,
                        hash.expected + ", as the index has it"));
            }
        }
    }

    /** A digest in the making, and what it should be. */
    private static final class Hash {

        private final String name;
        private final String expected;
        private final MessageDigest digest;
        private final Xxh64 xxh64;

        private Hash(String name, String expected, MessageDigest digest) {
            this.name = name;
            this.expected = expected;
            this.digest = digest;
            this.xxh64 = digest == null ? new Xxh64(0) : null;
        }

        /** Null if the JDK does not have the algorithm. */
        static Hash of(String name, String expected) {
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
