// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.lmdb;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Keys and names as text. */
final class KeyText {

    /** Returns a key as text if it is UTF-8 without control characters, otherwise as hexadecimal digits. */
    static String of(MemorySegment bytes, long offset, long length) {
        byte[] key = bytes.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(key)).toString();
            return text.codePoints().anyMatch(Character::isISOControl) ? HexFormat.of().formatHex(key) : text;
        } catch (CharacterCodingException _) {
            return HexFormat.of().formatHex(key);
        }
    }
}
