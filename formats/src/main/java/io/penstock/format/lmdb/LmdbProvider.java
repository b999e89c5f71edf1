// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import io.penstock.io.Location;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** LMDB environments: a folder with {@code data.mdb}, or that file under any name. */
public final class LmdbProvider implements StoreProvider {

    /** For the service loader. */
    public LmdbProvider() {
    }

    @Override
    public String name() {
        return "lmdb";
    }

    @Override
    public boolean hasMembers() {
        return true;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        byte[] head = candidate.head();
        return head.length >= Pages.HEADER_BYTES + Integer.BYTES
                && MemorySegment.ofArray(head).get(LittleEndian.I32, Pages.HEADER_BYTES) == Meta.MAGIC;
    }

    @Override
    public boolean matchesName(Candidate candidate) throws IOException {
        return candidate.holds(LmdbStore.DATA_FILE) || candidate.isFile() && candidate.nameEndsWith(".mdb", ".lmdb");
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return LmdbStore.open(path, options.member());
    }
}
