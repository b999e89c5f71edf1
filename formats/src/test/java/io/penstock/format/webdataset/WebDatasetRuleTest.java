// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.webdataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.Location;
import io.penstock.json.Json;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.text.BraceExpansion;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Names, groups and lists of shards are as the libraries have them. The tars of {@code /webdataset} were written by
 * Python's tarfile in all its formats, with odd names, other things than files among them, every kind of end, and gzip
 * of several members; the manifest has what {@code webdataset.tariterators} made of them.
 */
class WebDatasetRuleTest {

    private static final long SEED = 20261121;

    /** The library's own expressions. Its {@code $} matches before a last line end too. */
    private static final Pattern BASE_PLUS_EXT =
            Pattern.compile("^((?:.*/|)[^.]+)[.]([^/]*)\\z", Pattern.UNIX_LINES);
    private static final Pattern SKIP_META = Pattern.compile("__[^/]*__($|/)", Pattern.UNIX_LINES);

    private static Path resource(String name) {
        try {
            return Path.of(WebDatasetRuleTest.class.getResource("/webdataset").toURI()).resolve(name);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @TestFactory
    Stream<DynamicTest> generatedTarsAreReadAsTheLibraryReadsThem() throws IOException {
        return Json.array(Json.parse(Files.readAllBytes(resource("manifest.json")))).stream().map(Json::object)
                .map(entry -> DynamicTest.dynamicTest(entry.get("path").toString(), () -> {
                    Path path = resource(entry.get("path").toString());
                    if (entry.containsKey("error")) {
                        assertThrows(MalformedStoreException.class, () -> Inspection.of(path, Depth.CONTENT));
                        return;
                    }
                    Map<String, Object> found =
                            Json.object(Json.parse(Json.write(Inspection.of(path, Depth.CONTENT).toMap())));
                    for (String field : List.of("regular_members", "member_digest", "sample_count", "samples")) {
                        assertEquals(entry.get(field), found.get(field), field);
                    }
                }));
    }

    @Test
    void keysAndSuffixesAreWhatTheLibrarysExpressionMatches() {
        SplittableRandom random = new SplittableRandom(SEED);
        String letters = "ab./\n_A";
        int keys = 0;
        for (int i = 0; i < 60_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int n = random.nextInt(9); n >= 0; n--) {
                text.append(letters.charAt(random.nextInt(letters.length())));
            }
            byte[] name = text.toString().getBytes(StandardCharsets.US_ASCII);
            Matcher matcher = BASE_PLUS_EXT.matcher(text);
            int found = MemberName.keyBytes(name, name.length);
            String shown = text.toString().replace("\n", "\\n") + ", seed " + SEED;
            assertEquals(matcher.matches() ? matcher.end(1) : -1, found, shown);
            if (found >= 0) {
                keys++;
                assertEquals(matcher.group(2).toLowerCase(java.util.Locale.ROOT),
                        MemberName.suffix(name, name.length, found), shown);
            }
            assertEquals(SKIP_META.matcher(text).lookingAt(), MemberName.isMetadata(name, name.length), shown);
        }
        assertTrue(keys > 3_000, "of the names, " + keys + " have keys");
    }

    @Test
    void bracesExpandAsTheLibraryDoesIt() throws IOException {
        Map<String, Object> vectors = Json.object(Json.parse(Files.readAllBytes(resource("braceexpand.json"))));
        for (Object each : Json.array(vectors.get("good"))) {
            List<Object> vector = Json.array(each);
            assertEquals(vector.get(1), BraceExpansion.expand(vector.get(0).toString()), vector.get(0).toString());
        }
        for (Object bad : Json.array(vectors.get("bad"))) {
            assertThrows(IllegalArgumentException.class, () -> BraceExpansion.expand(bad.toString()));
        }
    }

    @Test
    void bracesThatExpandWithoutBoundsAreRefusedBeforeTheyDo() {
        for (String bomb : List.of("{0..999999999999}", "{1..2..99999999999999999999}", "{1..1000}{1..1000}{1..1000}",
                "{a,b}".repeat(64), "{1..5}".repeat(1000), "{".repeat(10_000) + "}".repeat(10_000),
                "{1..9223372036854775807}",
                "{-999999999999999999..999999999999999999}", "{a,".repeat(5000) + "}".repeat(5000))) {
            assertThrows(MalformedStoreException.class, () -> ShardList.of(Location.of(Path.of(bomb + ".tar"))), bomb);
        }
    }

    @Test
    void aShardThatAPatternNamesAndIsNotThereIsNamed() {
        String message = assertThrows(IOException.class,
                () -> WebDatasetStore.open(Location.of(resource("generated-{00..99}.tar")))).getMessage();
        assertTrue(message.contains("generated-") && message.contains("no such file"), message);
    }
}
