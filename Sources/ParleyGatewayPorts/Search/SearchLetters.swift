/// Accented letters, and the plain letters that search compares instead.
///
/// Contains the lower-case Latin, Greek and Cyrillic letters that Unicode decomposes into a letter
/// at the left and accents, and some others that people write without accents.
enum SearchLetters {
  static let plain: [Unicode.Scalar: String] = {
    var plain: [Unicode.Scalar: String] = [:]
    for (letter, accented) in rows {
      for scalar in accented.unicodeScalars { plain[scalar] = letter }
    }
    return plain
  }()

  /// The letters, written as escapes because an editor might compose or decompose them.
  private static let rows: [(letter: String, accented: String)] = [
    (
      "a",
      "\u{E0}\u{E1}\u{E2}\u{E3}\u{E4}\u{E5}\u{101}\u{103}\u{105}\u{1CE}\u{1DF}\u{1E1}"
        + "\u{1FB}\u{201}\u{203}\u{227}\u{1E01}\u{1EA1}\u{1EA3}\u{1EA5}\u{1EA7}\u{1EA9}"
        + "\u{1EAB}\u{1EAD}\u{1EAF}\u{1EB1}\u{1EB3}\u{1EB5}\u{1EB7}"
    ),
    ("b", "\u{1E03}\u{1E05}\u{1E07}"),
    ("c", "\u{E7}\u{107}\u{109}\u{10B}\u{10D}\u{1E09}"),
    ("d", "\u{10F}\u{1E0B}\u{1E0D}\u{1E0F}\u{1E11}\u{1E13}\u{111}\u{F0}"),
    (
      "e",
      "\u{E8}\u{E9}\u{EA}\u{EB}\u{113}\u{115}\u{117}\u{119}\u{11B}\u{205}\u{207}"
        + "\u{229}\u{1E15}\u{1E17}\u{1E19}\u{1E1B}\u{1E1D}\u{1EB9}\u{1EBB}\u{1EBD}"
        + "\u{1EBF}\u{1EC1}\u{1EC3}\u{1EC5}\u{1EC7}"
    ),
    ("f", "\u{1E1F}"),
    ("g", "\u{11D}\u{11F}\u{121}\u{123}\u{1E7}\u{1F5}\u{1E21}"),
    ("h", "\u{125}\u{21F}\u{1E23}\u{1E25}\u{1E27}\u{1E29}\u{1E2B}\u{1E96}\u{127}"),
    (
      "i",
      "\u{EC}\u{ED}\u{EE}\u{EF}\u{129}\u{12B}\u{12D}\u{12F}\u{1D0}\u{209}\u{20B}"
        + "\u{1E2D}\u{1E2F}\u{1EC9}\u{1ECB}\u{131}"
    ),
    ("j", "\u{135}\u{1F0}"),
    ("k", "\u{137}\u{1E9}\u{1E31}\u{1E33}\u{1E35}"),
    ("l", "\u{13A}\u{13C}\u{13E}\u{1E37}\u{1E39}\u{1E3B}\u{1E3D}\u{142}"),
    ("m", "\u{1E3F}\u{1E41}\u{1E43}"),
    ("n", "\u{F1}\u{144}\u{146}\u{148}\u{1F9}\u{1E45}\u{1E47}\u{1E49}\u{1E4B}"),
    (
      "o",
      "\u{F2}\u{F3}\u{F4}\u{F5}\u{F6}\u{14D}\u{14F}\u{151}\u{1A1}\u{1D2}\u{1EB}"
        + "\u{1ED}\u{20D}\u{20F}\u{22B}\u{22D}\u{22F}\u{231}\u{1E4D}\u{1E4F}\u{1E51}"
        + "\u{1E53}\u{1ECD}\u{1ECF}\u{1ED1}\u{1ED3}\u{1ED5}\u{1ED7}\u{1ED9}\u{1EDB}"
        + "\u{1EDD}\u{1EDF}\u{1EE1}\u{1EE3}\u{F8}\u{1FF}"
    ),
    ("p", "\u{1E55}\u{1E57}"),
    ("r", "\u{155}\u{157}\u{159}\u{211}\u{213}\u{1E59}\u{1E5B}\u{1E5D}\u{1E5F}"),
    ("s", "\u{15B}\u{15D}\u{15F}\u{161}\u{219}\u{1E61}\u{1E63}\u{1E65}\u{1E67}\u{1E69}"),
    ("t", "\u{163}\u{165}\u{21B}\u{1E6B}\u{1E6D}\u{1E6F}\u{1E71}\u{1E97}\u{167}"),
    (
      "u",
      "\u{F9}\u{FA}\u{FB}\u{FC}\u{169}\u{16B}\u{16D}\u{16F}\u{171}\u{173}\u{1B0}"
        + "\u{1D4}\u{1D6}\u{1D8}\u{1DA}\u{1DC}\u{215}\u{217}\u{1E73}\u{1E75}\u{1E77}"
        + "\u{1E79}\u{1E7B}\u{1EE5}\u{1EE7}\u{1EE9}\u{1EEB}\u{1EED}\u{1EEF}\u{1EF1}"
    ),
    ("v", "\u{1E7D}\u{1E7F}"),
    ("w", "\u{175}\u{1E81}\u{1E83}\u{1E85}\u{1E87}\u{1E89}\u{1E98}"),
    ("x", "\u{1E8B}\u{1E8D}"),
    ("y", "\u{FD}\u{FF}\u{177}\u{233}\u{1E8F}\u{1E99}\u{1EF3}\u{1EF5}\u{1EF7}\u{1EF9}"),
    ("z", "\u{17A}\u{17C}\u{17E}\u{1E91}\u{1E93}\u{1E95}"),
    ("\u{E6}", "\u{1E3}\u{1FD}"),
    ("\u{F8}", "\u{1FF}"),
    ("\u{17F}", "\u{1E9B}"),
    ("\u{292}", "\u{1EF}"),
    (
      "\u{3B1}",
      "\u{3AC}\u{1F00}\u{1F01}\u{1F02}\u{1F03}\u{1F04}\u{1F05}\u{1F06}\u{1F07}"
        + "\u{1F70}\u{1F71}\u{1F80}\u{1F81}\u{1F82}\u{1F83}\u{1F84}\u{1F85}\u{1F86}"
        + "\u{1F87}\u{1FB0}\u{1FB1}\u{1FB2}\u{1FB3}\u{1FB4}\u{1FB6}\u{1FB7}"
    ),
    ("\u{3B5}", "\u{3AD}\u{1F10}\u{1F11}\u{1F12}\u{1F13}\u{1F14}\u{1F15}\u{1F72}\u{1F73}"),
    (
      "\u{3B7}",
      "\u{3AE}\u{1F20}\u{1F21}\u{1F22}\u{1F23}\u{1F24}\u{1F25}\u{1F26}\u{1F27}"
        + "\u{1F74}\u{1F75}\u{1F90}\u{1F91}\u{1F92}\u{1F93}\u{1F94}\u{1F95}\u{1F96}"
        + "\u{1F97}\u{1FC2}\u{1FC3}\u{1FC4}\u{1FC6}\u{1FC7}"
    ),
    (
      "\u{3B9}",
      "\u{390}\u{3AF}\u{3CA}\u{1F30}\u{1F31}\u{1F32}\u{1F33}\u{1F34}\u{1F35}\u{1F36}"
        + "\u{1F37}\u{1F76}\u{1F77}\u{1FD0}\u{1FD1}\u{1FD2}\u{1FD3}\u{1FD6}\u{1FD7}"
    ),
    ("\u{3BF}", "\u{3CC}\u{1F40}\u{1F41}\u{1F42}\u{1F43}\u{1F44}\u{1F45}\u{1F78}\u{1F79}"),
    ("\u{3C1}", "\u{1FE4}\u{1FE5}"),
    (
      "\u{3C5}",
      "\u{3B0}\u{3CB}\u{3CD}\u{1F50}\u{1F51}\u{1F52}\u{1F53}\u{1F54}\u{1F55}\u{1F56}"
        + "\u{1F57}\u{1F7A}\u{1F7B}\u{1FE0}\u{1FE1}\u{1FE2}\u{1FE3}\u{1FE6}\u{1FE7}"
    ),
    (
      "\u{3C9}",
      "\u{3CE}\u{1F60}\u{1F61}\u{1F62}\u{1F63}\u{1F64}\u{1F65}\u{1F66}\u{1F67}"
        + "\u{1F7C}\u{1F7D}\u{1FA0}\u{1FA1}\u{1FA2}\u{1FA3}\u{1FA4}\u{1FA5}\u{1FA6}"
        + "\u{1FA7}\u{1FF2}\u{1FF3}\u{1FF4}\u{1FF6}\u{1FF7}"
    ),
    ("\u{3D2}", "\u{3D3}\u{3D4}"),
    ("\u{430}", "\u{4D1}\u{4D3}"),
    ("\u{433}", "\u{453}"),
    ("\u{435}", "\u{450}\u{451}\u{4D7}"),
    ("\u{436}", "\u{4C2}\u{4DD}"),
    ("\u{437}", "\u{4DF}"),
    ("\u{438}", "\u{439}\u{45D}\u{4E3}\u{4E5}"),
    ("\u{43A}", "\u{45C}"),
    ("\u{43E}", "\u{4E7}"),
    ("\u{443}", "\u{45E}\u{4EF}\u{4F1}\u{4F3}"),
    ("\u{447}", "\u{4F5}"),
    ("\u{44B}", "\u{4F9}"),
    ("\u{44D}", "\u{4ED}"),
    ("\u{456}", "\u{457}"),
    ("\u{475}", "\u{477}"),
    ("\u{4D9}", "\u{4DB}"),
    ("\u{4E9}", "\u{4EB}"),
    ("ss", "\u{DF}"),
    ("ae", "\u{E6}\u{1FD}\u{1E3}"),
    ("oe", "\u{153}"),
    ("th", "\u{FE}"),
    ("\u{3C3}", "\u{3C2}"),
    ("\u{627}", "\u{623}\u{625}\u{622}\u{671}"),
    ("\u{64A}", "\u{649}\u{626}"),
    ("\u{648}", "\u{624}"),
    ("\u{647}", "\u{629}"),
  ]
}
