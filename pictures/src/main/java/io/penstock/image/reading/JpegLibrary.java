// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.reading;

import io.penstock.error.CodecException;
import io.penstock.error.LibraryException;
import java.util.Locale;

/**
 * The libraries that decode JPEG. Their pixels are identical for images without chroma subsampling, and for others if
 * they upsample in the same way, as libjpeg-turbo and the JDK's libjpeg do.
 */
public enum JpegLibrary {
    /** libjpeg-turbo's {@code libturbojpeg}, if installed: several times as fast, and allocates nothing. */
    TURBOJPEG,
    /** The JDK's decoder, in the module {@code java.desktop}. It does not support arithmetic coding. */
    JDK;

    /** The property that names the library to use: {@code turbojpeg} or {@code jdk}. */
    public static final String PROPERTY = "penstock.jpeg";

    /**
     * The property that says what happens to an image of which the library warns, for example of bytes left over
     * between markers: {@code refuse}, the default, or {@code accept}, as Pillow and torchvision do. An image that is
     * cut off is refused in any case.
     */
    public static final String WARNINGS_PROPERTY = "penstock.jpeg.warnings";

    /** What to say of a warning that is refused. */
    static final String EXPECTED = "a whole and undamaged JPEG, or -D" + WARNINGS_PROPERTY + "=accept if it is whole";

    /** Returns the library that the property {@value #PROPERTY} names, otherwise the first that is present. */
    public static JpegLibrary preferred() {
        String chosen = System.getProperty(PROPERTY, "");
        return switch (chosen.toLowerCase(Locale.ROOT)) {
            case "" -> TURBOJPEG.isPresent() ? TURBOJPEG : JDK;
            case "turbojpeg" -> TURBOJPEG;
            case "jdk" -> JDK;
            default -> throw new IllegalArgumentException(PROPERTY + "=" + chosen + ", expected turbojpeg or jdk");
        };
    }

    /** Tells whether images of which the library warns are taken: what {@value #WARNINGS_PROPERTY} says. */
    private static boolean acceptsWarnings() {
        String chosen = System.getProperty(WARNINGS_PROPERTY, "refuse");
        return switch (chosen) {
            case "refuse" -> false;
            case "accept" -> true;
            default -> throw new IllegalArgumentException(WARNINGS_PROPERTY + "=" + chosen
                    + ", expected refuse or accept");
        };
    }

    public boolean isPresent() {
        return switch (this) {
            case TURBOJPEG -> TurboJpeg.isPresent();
            case JDK -> ModuleLayer.boot().findModule("java.desktop").isPresent();
        };
    }

    /**
     * Returns the name of the time that decoding pictures takes, which says if it could take much less: the names of
     * {@code LoaderReport.PartTime}, which is of a layer above.
     */
    public String part() {
        return this == JDK ? "decode (JPEG by the JDK)" : "decode";
    }

    static CodecException cutOff() {
        return new CodecException("an image that is cut off, without its end marker", "a whole JPEG");
    }

    JpegDecoder open() {
        return open(acceptsWarnings());
    }

    JpegDecoder open(boolean acceptsWarnings) {
        if (this == TURBOJPEG) {
            return TurboJpeg.open(acceptsWarnings);
        }
        try {
            return new JdkJpeg(acceptsWarnings);
        } catch (NoClassDefFoundError | UnsatisfiedLinkError e) {
            throw LibraryException.missing("reading JPEG", "libturbojpeg (libjpeg-turbo), or the JDK's module "
                    + "java.desktop", e);
        }
    }
}
