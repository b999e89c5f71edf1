// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the engine finds where all wings are on the class path. */
class AllProvidersTest {

    @Test
    void formatsOfWingsStandAmongTheEnginesByTheirOrder() {
        assertEquals(List.of("megatron", "manifest", "llmc", "npy", "npz", "safetensors", "hdf5", "arrow", "parquet",
                "lmdb", "mds", "csv", "jsonl", "webdataset", "images", "datatrove", "nanogpt", "files", "raw"),
                StoreFormats.all().stream().map(StoreProvider::name).toList());
    }

    @Test
    void schemesAreThoseOfAllProviders() {
        assertEquals("ftp://host/x.npy: unknown scheme 'ftp', expected file or hf or http or https or s3 or test",
                assertThrows(IllegalArgumentException.class, () -> Store.open(URI.create("ftp://host/x.npy")))
                        .getMessage());
    }
}
