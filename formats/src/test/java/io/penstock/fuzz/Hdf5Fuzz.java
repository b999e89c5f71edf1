// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.error.LimitException;
import io.penstock.error.MalformedStoreException;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * HDF5: structures that lead to each other by address.
 *
 * <p>The newer ones have checksums, which would turn nearly every mutation away. A checksum that is refused is
 * therefore put right, as the message says that it should be, and the file is read again: what is behind it is reached.
 */
record Hdf5Fuzz(StoreFuzz store) implements FuzzTarget {

    private static final String FILE = "x.h5";
    private static final int REPAIRS = 64;
    private static final Pattern WRONG_CHECKSUM =
            Pattern.compile(": at byte (\\d+): checksum [0-9a-f]{8} of .*, expected ([0-9a-f]{8})$");
    private static final List<String> SEEDS = List.of("attributes_latest.h5", "attributes_old.h5", "deep_old.h5",
            "deleted_latest.h5", "deleted_old.h5", "kinds_latest.h5", "kinds_old.h5", "refused.h5", "virtual.h5",
            "user_block_latest.h5", "bands.h5");

    static final FuzzTarget TARGET = new Hdf5Fuzz(seeded());

    private static StoreFuzz seeded() {
        StoreFuzz store = StoreFuzz.of("hdf5", "hdf5", FILE);
        for (String name : SEEDS) {
            try (InputStream in = Hdf5Fuzz.class.getResourceAsStream("/hdf5/" + name)) {
                store = store.seededBy(in.readAllBytes());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
        return store;
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        return store.seeds();
    }

    @Override
    public int maxBytes() {
        return store.maxBytes();
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        byte[] repaired = input.clone();
        Path file = folder.resolve(FILE);
        for (int i = 0; i < REPAIRS; i++) {
            Files.write(file, repaired);
            if (!repair(file, repaired)) {
                break;
            }
        }
        store.run(repaired, folder);
    }

    /** Puts the first checksum right that is refused; false if none is. */
    private static boolean repair(Path file, byte[] bytes) {
        try {
            Inspection.of(file, Depth.CONTENT);
        } catch (MalformedStoreException e) {
            Matcher wrong = WRONG_CHECKSUM.matcher(e.getMessage());
            if (!wrong.find()) {
                return false;
            }
            int checksum = Integer.parseUnsignedInt(wrong.group(2), 16);
            int at = Integer.parseInt(wrong.group(1));
            for (int b = 0; b < Integer.BYTES; b++) {
                bytes[at + b] = (byte) (checksum >> 8 * b);
            }
            return true;
        } catch (IOException | LimitException _) {
            return false;
        }
        return false;
    }
}
