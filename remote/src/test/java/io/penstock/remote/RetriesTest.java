// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetriesTest {

    private static final RequestSettings SETTINGS = RequestSettings.DEFAULT.withRetries(6, Duration.ofMillis(50),
            Duration.ofMillis(300), 100);

    private final List<Duration> slept = new ArrayList<>();

    private Retries retries(RequestSettings settings) {
        SplittableRandom random = new SplittableRandom(7);
        return new Retries(settings, () -> random, slept::add);
    }

    private static Retries.Attempt<String> failing(int times, IOException failure) {
        AtomicInteger left = new AtomicInteger(times);
        return () -> {
            if (left.getAndDecrement() > 0) {
                throw failure;
            }
            return "done";
        };
    }

    @ParameterizedTest
    @CsvSource({"400, RequestTimeout, true", "400, InvalidRequest, false", "503, SlowDown, true", "500, '', true",
            "501, NotImplemented, false"})
    void whatS3CallsTemporaryIsTriedAgain(int status, String code, boolean isTemporary) {
        IOException failure = StatusException.of("x", status, HttpHeaders.of(Map.of(), (_, _) -> true),
                "<Error><Code>" + code + "</Code></Error>");
        assertEquals(isTemporary, !(failure instanceof FileSystemException), failure.toString());
    }

    @Test
    void delaysAreRandomUpToABoundThatDoublesAndStops() throws IOException {
        long[] most = new long[5];
        for (int i = 0; i < 200; i++) {
            slept.clear();
            assertEquals("done", retries(SETTINGS).run(failing(5, new IOException("reset")), () -> 0));
            for (int j = 0; j < 5; j++) {
                assertTrue(slept.get(j).toMillis() <= Math.min(300, 50L << j), slept.toString());
                most[j] = Math.max(most[j], slept.get(j).toMillis());
            }
        }
        assertTrue(most[0] > 0 && most[4] > 50, "the delays of one seed");
    }

    @Test
    void theServersDelayIsKeptButNotALongerOneThanTheSettings() throws IOException {
        IOException one = StatusException.of("x", 503, headers("Retry-After", "0"), "");
        IOException ten = StatusException.of("x", 429, headers("Retry-After", "10"), "");
        RequestSettings patient = SETTINGS.withRetries(6, Duration.ofMillis(1), Duration.ofSeconds(20), 100);
        retries(patient).run(failing(1, ten), () -> 0);
        retries(SETTINGS).run(failing(1, ten), () -> 0);
        retries(patient).run(failing(1, one), () -> 0);
        assertEquals(List.of(Duration.ofSeconds(10), Duration.ofMillis(300)), slept.subList(0, 2));
        assertTrue(slept.get(2).toMillis() <= 1, slept.toString());
    }

    @Test
    void theServersDelayMayBeADate() throws IOException {
        IOException late = StatusException.of("x", 503, headers("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), "");
        IOException past = StatusException.of("x", 503, headers("Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"), "");
        IOException none = StatusException.of("x", 503, headers("Retry-After", "soon"), "");
        retries(SETTINGS).run(failing(1, late), () -> 0);
        assertEquals(List.of(Duration.ofMillis(300)), slept);
        retries(SETTINGS).run(failing(1, past), () -> 0);
        retries(SETTINGS).run(failing(1, none), () -> 0);
        assertTrue(slept.get(1).toMillis() <= 50 && slept.get(2).toMillis() <= 50, slept.toString());
    }

    private static HttpHeaders headers(String name, String value) {
        return HttpHeaders.of(Map.of(name, List.of(value)), (_, _) -> true);
    }

    @Test
    void theLastFailureSaysHowOftenItWasTried() {
        IOException e = assertThrows(IOException.class, () -> retries(SETTINGS).run(
                failing(6, new IOException("x: reset")), () -> 0));
        assertEquals("x: reset (after 6 attempts)", e.getMessage());
        assertEquals(5, slept.size());
    }

    @Test
    void anAttemptThatMadeProgressDoesNotCountAndIsFollowedAtOnce() throws IOException {
        AtomicInteger attempts = new AtomicInteger();
        assertEquals("done", retries(SETTINGS).run(() -> {
            if (attempts.incrementAndGet() < 50) {
                throw new IOException("cut");
            }
            return "done";
        }, attempts::get));
        assertEquals(0, slept.size());
    }

    @Test
    void whatWillNotPassIsNotTriedAgain() {
        assertThrows(AccessDeniedException.class, () -> retries(SETTINGS).run(
                failing(1, new AccessDeniedException("x")), () -> 0));
        assertEquals(List.of(), slept);
    }

    @Test
    void allRequestsShareABudget() throws IOException {
        Retries retries = retries(SETTINGS.withRetries(6, Duration.ofMillis(1), Duration.ofMillis(1), 3));
        for (int i = 0; i < 3; i++) {
            retries.run(failing(1, new IOException("reset")), () -> 0);
        }
        String message = assertThrows(IOException.class, () -> retries.run(failing(1, new IOException("x: reset")),
                () -> 0)).getMessage();
        assertTrue(message.startsWith("x: reset (the budget of retries is used up"), message);
        for (int i = 0; i < 16; i++) {
            retries.run(failing(0, new IOException()), () -> 0);
        }
        // 20 requests earn two more retries; the one that was refused has taken the first.
        assertEquals("done", retries.run(failing(1, new IOException("reset")), () -> 0));
    }
}
