package io.penstock.format.webdataset;

import io.penstock.io.Location;
import io.penstock.io.MalformedStoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The members of a tar that belong to samples, by the rule of {@code webdataset/tariterators.py}: members that follow
 * one another under the same key are a sample. What is no file, has no key, or is {@linkplain MemberName#isMetadata
 * about the tar}, is left out as if it were not there.
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
    private final SuffixSet inSample = new SuffixSet();
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

    /** Goes to the next file, whether it {@link #belongs} to a sample or not; false at the tar's end. */
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
            inSample.clear();
        }
        suffix = suffixes.idOf(file, tar, length);
        // The library keeps key and address of a sample under these names, and takes a member for a duplicate.
        String text = suffixes.text(suffix);
        if (!inSample.add(suffix) || text.equals("__key__") || text.equals("__url__")) {
            throw new MalformedStoreException(file, tar.entryOffset(), "a second '" + text + "' of the sample '"
                    + key() + "'", "suffixes that differ within a sample");
        }
    }

    /** Whether the member is in a sample; if not, what follows says nothing of it. */
    boolean belongs() {
        return belongs;
    }

    /** Whether the member is the first one of a sample. */
    boolean beginsSample() {
        return beginsSample;
    }

    /** The member's suffix, by its number in {@link Suffixes}. */
    int suffix() {
        return suffix;
    }

    /** The key of the member's sample. */
    String key() {
        return new String(key, 0, keyBytes, StandardCharsets.UTF_8);
    }

    /** Whether the sample is to be dropped: a member {@code __bad__} that is not empty says so. */
    boolean saysBad() {
        return tar.dataBytes() > 0 && suffixes.text(suffix).equals("__bad__");
    }

    /** Files so far, those that belong to no sample included. */
    long regularMembers() {
        return regularMembers;
    }
}
