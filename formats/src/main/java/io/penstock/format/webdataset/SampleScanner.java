// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Finds the samples in a tar by the rule of {@code webdataset/tariterators.py}: consecutive members with the same key
 * are a sample. Members that are no files, have no key, or are {@linkplain MemberName#isMetadata metadata of the tar}
 * are skipped.
 */
final class SampleScanner {

    private final Location file;
    private final TarReader tar;
    private final Suffixes suffixes;
    private byte[] key = new byte[64];
    private int keyBytes = -1;
    private boolean belongs;
    private boolean beginsSample;
    private int suffix;
    /** By suffix: the last sample that has it, counted from 1. */
    private int[] lastSample = new int[16];
    private int samples;
    private long regularMembers;

    SampleScanner(Location file, TarReader tar, Suffixes suffixes) {
        this.file = file;
        this.tar = tar;
        this.suffixes = suffixes;
    }

    /** Goes to the next member of a sample; false at the tar's end. */
    boolean next() throws IOException {
        while (nextFile()) {
            if (belongs) {
                return true;
            }
        }
        return false;
    }

    /** Goes to the next file, whether or not it {@link #belongs} to a sample; false at the tar's end. */
    boolean nextFile() throws IOException {
        while (tar.next()) {
            if (tar.isRegular()) {
                regularMembers++;
                int length = MemberName.isMetadata(tar.name(), tar.nameBytes()) ? -1
                        : MemberName.keyBytes(tar.name(), tar.nameBytes());
                belongs = length >= 0;
                if (belongs) {
                    take(length);
                }
                return true;
            }
        }
        return false;
    }

    private void take(int length) throws IOException {
        beginsSample = !Arrays.equals(tar.name(), 0, length, key, 0, Math.max(keyBytes, 0)) || keyBytes < 0;
        if (beginsSample) {
            if (key.length < length) {
                key = new byte[length];
            }
            System.arraycopy(tar.name(), 0, key, 0, length);
            keyBytes = length;
            samples++;
        }
        suffix = suffixes.idOf(file, tar, length);
        // The library stores a sample's key and address under these names, so it rejects such a member as a duplicate.
        String text = suffixes.text(suffix);
        if (!isFirstInSample(suffix) || text.equals("__key__") || text.equals("__url__")) {
            throw new MalformedStoreException(file, tar.entryOffset(), "a second '" + text + "' of the sample '"
                    + key() + "'", "suffixes that differ within a sample");
        }
    }

    private boolean isFirstInSample(int id) {
        if (id >= lastSample.length) {
            lastSample = Arrays.copyOf(lastSample, Math.max(id + 1, 2 * lastSample.length));
        }
        boolean isFirst = lastSample[id] != samples;
        lastSample[id] = samples;
        return isFirst;
    }

    /** Tells whether the member is in a sample; only then the following methods describe it. */
    boolean belongs() {
        return belongs;
    }

    boolean beginsSample() {
        return beginsSample;
    }

    int suffix() {
        return suffix;
    }

    String key() {
        return new String(key, 0, keyBytes, StandardCharsets.UTF_8);
    }

    /** Tells whether this member marks its sample as bad: {@code __bad__}, not empty. Readers drop such samples. */
    boolean saysBad() {
        return tar.dataBytes() > 0 && suffixes.text(suffix).equals("__bad__");
    }

    /** Returns the files so far, including those in no sample. */
    long regularMembers() {
        return regularMembers;
    }
}
