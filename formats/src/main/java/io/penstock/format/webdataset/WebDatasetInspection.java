// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import io.penstock.codec.decoder.Compression;
import io.penstock.format.RecordDigest;
import io.penstock.internal.Sha256;
import io.penstock.json.Json;
import io.penstock.store.Column;
import io.penstock.store.Progress;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Describes a WebDataset and, on demand, digests its files in a pass over the shards. */
final class WebDatasetInspection {

    /** The most samples that are described one by one, with digests and without. */
    private static final int MAX_DIGESTED_SAMPLES = 10_000;
    private static final int MAX_LISTED_SAMPLES = 16;

    private final WebDatasetStore store;
    private final Shard[] shards;
    private final RecordDigest whole = new RecordDigest();
    private final byte[] chunk = new byte[1 << 20];
    private final List<Object> samples = new ArrayList<>();
    private Map<String, @Nullable Object> members = new LinkedHashMap<>();
    private boolean bad;
    private long doneBytes;

    WebDatasetInspection(WebDatasetStore store, Shard[] shards) {
        this.store = store;
        this.shards = shards;
    }

    Map<String, @Nullable Object> details(boolean digest, Progress progress) throws IOException {
        Map<String, @Nullable Object> details = new LinkedHashMap<>();
        long regular = Arrays.stream(shards).mapToLong(shard -> shard.index.regularMembers()).sum();
        details.put("columns", store.columns().stream().map(Column::name).toList());
        if (shards.length > 1) {
            details.put("shards", shards.length);
        }
        details.put("regular_members", regular);
        if (digest) {
            long total = Arrays.stream(shards).mapToLong(shard -> shard.index.tarBytes()).sum();
            long before = 0;
            for (Shard shard : shards) {
                doneBytes = before;
                digest(shard, total, progress);
                before += shard.index.tarBytes();
            }
            details.put("member_digest", whole.hex());
        } else {
            list();
        }
        details.put("sample_count", store.size());
        details.put("samples", samples);
        return details;
    }

    private void list() {
        for (int i = 0; i < Math.min(store.size(), MAX_LISTED_SAMPLES); i++) {
            Shard shard = shards[store.shardOf(i)];
            long sample = i - store.firstRecord(store.shardOf(i));
            if (shard.compression != Compression.NONE) {
                return; // its keys are compressed
            }
            ShardIndex index = shard.index;
            beginSample(shard.key(sample));
            for (long m = index.firstMember(sample); m < index.firstMember(sample + 1); m++) {
                member(index.suffixes().get(index.suffix(m)), index.dataBytes(m), null);
            }
        }
    }

    private void beginSample(String key) {
        members = new LinkedHashMap<>();
        Map<String, @Nullable Object> sample = Json.members("key", key, "members", members);
        samples.add(sample);
    }

    private void member(String suffix, long bytes, @Nullable String sha256) {
        Map<String, @Nullable Object> member = new LinkedHashMap<>();
        member.put("bytes", bytes);
        if (sha256 != null) {
            member.put("sha256", sha256);
        }
        members.put(suffix, member);
    }

    private void dropIfBad() {
        if (bad) {
            samples.removeLast();
            bad = false;
        }
    }

    /**
     * Digests all files of a shard, including those in no sample, as records of name and bytes; and each file of the
     * first samples.
     */
    private void digest(Shard shard, long total, Progress progress) throws IOException {
        try (TarSource source = shard.source()) {
            TarReader tar = new TarReader(shard.path, source);
            Suffixes suffixes = new Suffixes();
            SampleScanner scanner = new SampleScanner(shard.path, tar, suffixes);
            boolean described = false;
            while (scanner.nextFile()) {
                if (scanner.belongs() && scanner.beginsSample()) {
                    dropIfBad();
                    described = samples.size() < MAX_DIGESTED_SAMPLES;
                    if (described) {
                        beginSample(scanner.key());
                    }
                }
                MessageDigest own = described && scanner.belongs() ? Sha256.digest() : null;
                digest(tar, source, own, total, progress);
                if (own != null) {
                    bad |= scanner.saysBad();
                    member(suffixes.text(scanner.suffix()), tar.dataBytes(), Sha256.shortHex(own));
                }
            }
            dropIfBad();
            doneBytes = Math.max(doneBytes, source.position());
        }
    }

    private void digest(TarReader tar, TarSource source, @Nullable MessageDigest own, long total, Progress progress)
            throws IOException {
        whole.addInt(tar.nameBytes()).addBytes(tar.name(), tar.nameBytes()).addInt((int) tar.dataBytes());
        for (long left = tar.dataBytes(); left > 0;) {
            int read = source.read(chunk, 0, (int) Math.min(left, chunk.length));
            if (read <= 0) {
                return; // the reader reports what is missing
            }
            whole.addBytes(chunk, read);
            if (own != null) {
                own.update(chunk, 0, read);
            }
            left -= read;
            doneBytes += read;
            progress.update(Math.min(doneBytes, total), total);
        }
    }
}
