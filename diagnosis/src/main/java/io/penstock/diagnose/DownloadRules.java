// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.json.Json;
import io.penstock.telemetry.BatchAccount.Download;
import io.penstock.telemetry.LoaderReport.Downloads;
import io.penstock.text.NumberText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The verdicts on remote files. */
final class DownloadRules {

    private static final double OVERFETCHED = 0.5;
    /** Fewer may have been fetched ahead. */
    private static final long OVERFETCHED_MIN_BLOCKS = 256;

    /** One thing that a wait for remote bytes waits for, and what to do about it. */
    private record Wanted(String name, String what, ToLongFunction<Download> nanos, String action) {
    }

    private static final List<Wanted> WANTED = List.of(
            new Wanted("lock", "another process that fetches the same bytes", Download::lockNanos,
                    "That is normal if ranks of a node start on an empty cache; 'penstock fetch' fills it before."),
            new Wanted("queue", "earlier requests", Download::queueNanos,
                    "Allow more parallel requests, or use larger blocks."),
            new Wanted("first_byte", "the first byte of answers", Download::firstByteNanos,
                    "Use larger blocks, leave read-ahead on, or use a closer server."),
            new Wanted("transfer", "the bytes of answers", Download::transferNanos,
                    "The link or the server is the limit: let the cache hold more, or store smaller samples."),
            new Wanted("retry", "the next attempt after requests that failed", Download::retryNanos,
                    "The server refuses or breaks requests: send fewer at a time, spread the files over prefixes, or"
                            + " ask for a higher limit."));

    static List<Finding> judge(Facts facts) {
        List<Finding> findings = new ArrayList<>();
        double share = facts.share(Cause.DOWNLOAD);
        Downloads all = facts.recording.downloads();
        if (share >= StepRules.INFO_SHARE) {
            findings.add(waits(facts, share));
        }
        double used = (double) all.readBytes() / all.fetchedBytes();
        if (all.fetchedBlocks() >= OVERFETCHED_MIN_BLOCKS && used <= OVERFETCHED) {
            findings.add(new Finding(Verdict.OVERFETCHED, StepRules.severity(share), share,
                    "Of the bytes fetched from remote files, " + NumberText.percent(used) + " were used.",
                    "Use smaller blocks (PENSTOCK_BLOCK_SIZE), a block shuffle, or a larger cache.", List.of(),
                    evidence(facts)));
        }
        return findings;
    }

    private static Finding waits(Facts facts, double share) {
        List<Download> waits = facts.accounts().stream()
                .flatMap(account -> Stream.ofNullable(account.making().download())).toList();
        Wanted most = Collections.max(WANTED, Comparator.comparingLong(wanted -> nanos(waits, wanted)));
        Map<String, @Nullable Object> evidence = evidence(facts);
        WANTED.forEach(wanted -> evidence.put(wanted.name + "_ms", nanos(waits, wanted) / 1e6));
        evidence.put("share_of_step", share);
        return new Finding(Verdict.DOWNLOAD, StepRules.severity(share), share, "Workers wait for remote files, mostly"
                + " for " + most.what + ": " + NumberText.percent(share) + " of the step.", most.action, List.of(),
                evidence);
    }

    private static long nanos(List<Download> waits, Wanted wanted) {
        return waits.stream().mapToLong(wanted.nanos).sum();
    }

    /** What was fetched against what was used, and what an epoch costs at this rate. */
    private static Map<String, @Nullable Object> evidence(Facts facts) {
        Downloads all = facts.recording.downloads();
        double samples = facts.recording.samples();
        double epochs = samples / all.epochSamples();
        return Json.members("fetched_bytes", all.fetchedBytes(), "used_bytes", all.readBytes(),
                "hit_rate", 1 - (double) all.waitingReads() / all.reads(),
                "requests_sent_again", all.requests() - all.fetchedBlocks(),
                "requests_per_1000_samples", 1000 * all.requests() / samples,
                "epoch_gb", all.fetchedBytes() / epochs / 1e9, "epoch_requests", all.requests() / epochs);
    }
}
