// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.augment.step.AugmentMap;
import io.penstock.augment.step.Ending;
import io.penstock.dataset.source.SampleMap;
import io.penstock.image.ImageFit;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.pictures.ImageDecoder;
import io.penstock.sampling.KeyedRandom;
import io.penstock.telemetry.LoaderReport.PartTime;
import io.penstock.transform.ImageTransform.Layout;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

/** What a loader's clock is told of the steps of a pipeline. */
class AugmentPartsTest {

    /** The parts that are told while one image is made, which has the same bytes as without a clock. */
    private static List<String> told(AugmentMap map, Tensor in, TensorSpec result) throws IOException {
        List<String> told = new ArrayList<>();
        KeyedRandom random = new KeyedRandom(1, 2);
        try (Arena arena = Arena.ofConfined(); SampleMap.Mapper session = map.open().orElseThrow()) {
            Tensor timed = Tensor.of(arena.allocate(result.byteSize()), result.dtype(), result.shape());
            random.select(3, 0);
            session.map(in.segment(), 0, in.byteSize(), random, timed.segment(), 0, timed.byteSize(),
                    part -> told.add(map.parts().get(part)));
            Tensor untimed = Tensor.of(arena.allocate(result.byteSize()), result.dtype(), result.shape());
            random.select(3, 0);
            map.map(in, random, untimed);
            assertArrayEquals(untimed.segment().toArray(ValueLayout.JAVA_BYTE),
                    timed.segment().toArray(ValueLayout.JAVA_BYTE));
        }
        return told;
    }

    @Test
    void cropsThatArePutOffAreTheirOwnWorkAndNotThatOfTheStepThatNeedsThePixels() throws IOException {
        byte[] pixels = new byte[20 * 30 * 3];
        new Random(4).nextBytes(pixels);
        try (Arena arena = Arena.ofConfined()) {
            Tensor in = Tensor.of(arena.allocate(pixels.length).copyFrom(MemorySegment.ofArray(pixels)), DType.U8, 20,
                    30, 3);
            TensorSpec images = new TensorSpec("image", DType.U8, 20, 30, 3);
            AugmentMap map = AugmentText.parse("rrc=8,invert=1,vflip=1").over(images);
            assertEquals(List.of("randomResizedCrop", "invert", "verticalFlip"), map.parts());
            assertEquals(List.of("randomResizedCrop", "invert", "randomResizedCrop", "invert", "verticalFlip",
                    "verticalFlip"), told(map, in, map.result("image")));
            AugmentMap lazy = AugmentText.parse("name=\"other\",rrc=8,flip=1").over(images);
            assertEquals(List.of("other.randomResizedCrop", "other.horizontalFlip", "other.horizontalFlip"),
                    told(lazy, in, lazy.result("image")));
        }
    }

    @Test
    void cropsOfAFileAreDecoding() throws IOException {
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        BufferedImage image = new BufferedImage(30, 20, BufferedImage.TYPE_INT_RGB);
        Random random = new Random(4);
        image.setRGB(0, 0, 30, 20, random.ints(30 * 20).toArray(), 0, 30);
        ImageIO.write(image, "png", png);
        try (Arena arena = Arena.ofConfined()) {
            Tensor in = Tensor.of(arena.allocate(png.size()).copyFrom(MemorySegment.ofArray(png.toByteArray())),
                    DType.U8, png.size());
            TensorSpec files = new TensorSpec("image", DType.U8, TensorSpec.VARIABLE);
            Augment steps = AugmentText.parse("rrc=8,flip=1,jitter=0.4,normalize=imagenet");
            TensorSpec result = new TensorSpec("image", DType.U8, 8, 8, 3);
            AugmentMap map = steps.over(files).to(new Ending(DType.F32, Layout.NCHW, null, null).transform(result));
            String decode = JpegLibrary.preferred().part();
            assertEquals(List.of(decode, "randomResizedCrop", "horizontalFlip", "colorJitter", "normalize"),
                    map.parts());
            assertEquals(List.of("randomResizedCrop", "horizontalFlip", "colorJitter", decode, "colorJitter",
                    "normalize"), told(map, in, new TensorSpec("image", DType.F32, 3, 8, 8)));
            AugmentMap lazy = AugmentText.parse("rrc=8,flip=1").over(files);
            assertEquals(List.of("randomResizedCrop", "horizontalFlip", decode), told(lazy, in, result));
        }
    }

    @Test
    void decodingByTheJdkIsNamed() {
        assertEquals(PartTime.DECODE, JpegLibrary.TURBOJPEG.part());
        assertEquals(PartTime.DECODE_BY_JDK, JpegLibrary.JDK.part());
        String part = JpegLibrary.preferred().part();
        assertEquals(part, ImageDecoder.rgb(ImageFit.exactly(8, 8)).part());
        assertEquals(List.of(part, "randomResizedCrop"), AugmentText.parse("rrc=8")
                .over(new TensorSpec("image", DType.U8, TensorSpec.VARIABLE)).parts());
    }
}
