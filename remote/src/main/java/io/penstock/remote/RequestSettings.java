// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import java.time.Duration;
import java.util.Objects;

/**
 * How requests are sent, and sent again.
 *
 * <p>A request is sent again after a connection error, a timeout, a body that ends early, and the statuses 408, 429,
 * 500, 502, 503 and 504. It waits for a random time up to a delay that doubles, or for as long as the server's
 * {@code Retry-After} says. Of a body that ended early only the rest is requested, at once.
 *
 * <p>The first requests go four at a time, then more with each success, up to {@code parallel}. When the server answers
 * more than one in twenty with 429 or 503, half as many go at a time, and slowly more from there. A request for a part
 * of a file that takes half as long again as 95 in 100 of its size is sent a second time; what answers first counts.
 *
 * @param parallel the most requests at a time
 * @param connectTimeout the longest time to connect
 * @param answerTimeout the longest time from a request to the first byte of its answer
 * @param stallTimeout the longest time between two parts of a body
 * @param attempts how often a request is sent without any progress before it fails
 * @param firstDelay the longest delay before the second attempt
 * @param longestDelay the longest delay, also of {@code Retry-After}
 * @param retryBudget how many retries all requests together may have more than one in ten requests
 * @param hedgePercent how many requests of a hundred may be sent again because they are late; twice as many if they
 *     are very late; 0 to 100
 */
public record RequestSettings(int parallel, Duration connectTimeout, Duration answerTimeout, Duration stallTimeout,
        int attempts, Duration firstDelay, Duration longestDelay, int retryBudget, int hedgePercent) {

    /**
     * 16 requests at a time; 10 attempts with delays from 50 ms to 20 s; timeouts of 10, 30 and 30 s; 2 of 100 requests
     * may be sent twice.
     */
    public static final RequestSettings DEFAULT = new RequestSettings(16, Duration.ofSeconds(10),
            Duration.ofSeconds(30), Duration.ofSeconds(30), 10, Duration.ofMillis(50), Duration.ofSeconds(20), 500, 2);

    /**
     * Checks the counts.
     *
     * @throws IllegalArgumentException if {@code parallel} or {@code attempts} is below 1, {@code retryBudget} is
     *     negative, or {@code hedgePercent} is not 0 to 100
     */
    public RequestSettings {
        Objects.requireNonNull(connectTimeout, "connectTimeout");
        Objects.requireNonNull(answerTimeout, "answerTimeout");
        Objects.requireNonNull(stallTimeout, "stallTimeout");
        Objects.requireNonNull(firstDelay, "firstDelay");
        Objects.requireNonNull(longestDelay, "longestDelay");
        if (parallel < 1 || attempts < 1 || retryBudget < 0 || hedgePercent < 0 || hedgePercent > 100) {
            throw new IllegalArgumentException("found " + parallel + " parallel requests, " + attempts
                    + " attempts, a budget of " + retryBudget + " and " + hedgePercent
                    + " % sent twice, expected at least 1, 1 and 0, and 0 to 100 %");
        }
    }

    /**
     * {@return these settings with other timeouts}
     *
     * @param connect the longest time to connect
     * @param answer the longest time to the first byte of an answer
     * @param stall the longest time between two parts of a body
     */
    public RequestSettings withTimeouts(Duration connect, Duration answer, Duration stall) {
        return new RequestSettings(parallel, connect, answer, stall, attempts, firstDelay, longestDelay, retryBudget,
                hedgePercent);
    }

    /**
     * {@return these settings with other retries}
     *
     * @param count how often a request is sent without any progress before it fails
     * @param first the longest delay before the second attempt
     * @param longest the longest delay
     * @param budget how many retries all requests together may have more than one in ten requests
     */
    public RequestSettings withRetries(int count, Duration first, Duration longest, int budget) {
        return new RequestSettings(parallel, connectTimeout, answerTimeout, stallTimeout, count, first, longest,
                budget, hedgePercent);
    }

    /**
     * {@return these settings with another number of parallel requests}
     *
     * @param count the most requests at a time
     */
    public RequestSettings withParallel(int count) {
        return new RequestSettings(count, connectTimeout, answerTimeout, stallTimeout, attempts, firstDelay,
                longestDelay, retryBudget, hedgePercent);
    }

    /**
     * {@return these settings with another share of requests that are sent twice}
     *
     * @param percent how many of a hundred, 0 to 100
     */
    public RequestSettings withHedges(int percent) {
        return new RequestSettings(parallel, connectTimeout, answerTimeout, stallTimeout, attempts, firstDelay,
                longestDelay, retryBudget, percent);
    }
}
