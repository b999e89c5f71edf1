// SPDX-License-Identifier: Apache-2.0
package io.penstock.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.junit.jupiter.api.Test;

class LineFeedsTest {

    @Test
    void findsAndCountsThemInAnyBytes() {
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(40)];
            for (int at = 0; at < bytes.length; at++) {
                bytes[at] = (byte) switch (random.nextInt(6)) {
                    case 0 -> '\n';
                    case 1 -> '\n' + 0x80;
                    case 2 -> '\n' + random.nextInt(-1, 2);
                    default -> random.nextInt();
                };
            }
            int from = random.nextInt(bytes.length + 1);
            int first = from;
            while (first < bytes.length && bytes[first] != '\n') {
                first++;
            }
            assertEquals(first, LineFeeds.first(bytes, from, bytes.length));
            int count = 0;
            for (int at = 0; at < from; at++) {
                count += bytes[at] == '\n' ? 1 : 0;
            }
            assertEquals(count, LineFeeds.count(bytes, from));
        }
    }
}
