//! The 90 dimensions of user traits, in three categories (MemoryOS, 3.1: basic needs and personality, AI alignment,
//! content-platform interests). The paper names the number and the categories; names, definitions and level rules are ours.

use super::conflict::join_evidence;
use super::slot::normal_value;
use crate::model::{Trait, TraitLevel};

/// Category of a trait dimension; 30 dimensions each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TraitCategory {
    /// Needs and personality.
    Psychology,
    /// How the user wants an assistant to be.
    Alignment,
    /// What the user likes to read, watch, hear and do.
    Interest,
}

/// Dimensions of each category.
const PER_CATEGORY: usize = 30;
/// Number of dimensions.
pub const N_TRAITS: usize = 3 * PER_CATEGORY;

/// One dimension a line: name, Chinese name, definition, what low means, what high means.
const PSYCHOLOGY: &str = "\
Extraversion|外向性|energy drawn from company|keeps to a few people|seeks company and talk
Openness|开放性|readiness for new ideas and experiences|prefers what is familiar|tries the unfamiliar gladly
Agreeableness|宜人性|warmth and cooperation with others|blunt, competes|gives way, keeps the peace
Conscientiousness|尽责性|care and discipline in tasks|leaves things loose|plans and finishes
Neuroticism|神经质|proneness to worry and mood swings|hard to upset|worries often
Curiosity|好奇心|urge to find out how things are|content not to know|asks further and digs
Empathy|共情能力|feeling with others|stays with the facts|speaks of others' feelings
Self-Discipline|自律|doing what was resolved|puts things off|keeps routines against mood
Risk Tolerance|风险承受|ease with uncertain outcomes|plays safe|bets on chances
Patience|耐心|calm while waiting or repeating|pushes for results at once|takes the time it takes
Assertiveness|果断性|standing up for one's own view|avoids confrontation|states demands openly
Optimism|乐观|expecting good outcomes|expects trouble|sees the bright side
Humour|幽默感|joking and playfulness|stays serious|jokes in most talks
Creativity|创造力|making new things and ideas|follows models|invents and designs
Independence|独立性|relying on oneself|asks before acting|decides alone
Need for Order|秩序需求|wish for structure and tidiness|at ease in disorder|sorts and schedules
Need for Security|安全需求|wish for safety and stability|accepts insecurity|insures against loss
Need for Belonging|归属需求|wish to be part of a group|content apart|speaks of we, misses people
Need for Esteem|尊重需求|wish to be recognised|indifferent to praise|seeks approval and status
Need for Autonomy|自主需求|wish for freedom of choice|glad of guidance|resists being told
Need for Achievement|成就需求|wish to excel and reach goals|good enough is enough|sets and tracks goals
Need for Power|权力需求|wish to lead and influence|leaves the lead to others|takes charge
Need for Intimacy|亲密需求|wish for close and deep bonds|keeps a distance|shares private matters
Need for Novelty|新奇需求|wish for change and stimulation|likes sameness|bored by routine
Physiological Needs|生理需求|concern with sleep, food and health|hardly mentions the body|watches body and health
Cognitive Need|认知需求|pleasure in thinking hard|wants the short answer|enjoys hard problems
Aesthetic Need|审美需求|need for beauty and form|function first|cares for look and sound
Self-Actualisation|自我实现|striving to become what one can be|content as is|works on growth and meaning
Emotional Stability|情绪稳定|even temper under strain|thrown off by setbacks|stays calm in crises
Altruism|利他性|acting for others' good|looks after own interests|helps and gives unasked";

const ALIGNMENT: &str = "\
Conciseness|简洁偏好|wish for short answers|wants full detail|asks for brevity
Detail|细节偏好|wish for thoroughness|bored by detail|asks for every step
Directness|直接偏好|wish for plain verdicts|wants it put gently|wants the verdict first
Warmth|温暖偏好|wish for a friendly tone|wants a neutral tool|wants kindness and support
Formality|正式偏好|wish for formal language|casual, slang|polite and formal
Humour in Answers|回答幽默|wish for wit in answers|dislikes jokes|invites jokes
Honesty|诚实要求|weight on candour, even unpleasant|prefers comfort|demands the hard truth
Accuracy|准确要求|weight on correct facts|rough is fine|checks and corrects
Sources|来源要求|wish for references|never asks for sources|wants sources for claims
Uncertainty|不确定性表达|wish to hear how sure the answer is|wants one answer|wants doubts named
Safety|安全要求|weight on caution about harm|finds warnings tiresome|asks for safe ways
Privacy|隐私要求|weight on keeping data private|shares freely|asks what is stored
Neutrality|中立要求|wish for balance on disputed matters|wants a side taken|wants all sides
Instruction Following|指令遵循|weight on the letter of a request|leaves room|insists on the letter
Initiative|主动性偏好|wish for unasked suggestions|answers only what is asked|welcomes ideas and reminders
Clarifying Questions|澄清提问|wish to be asked back|wants a guess at once|wants to be asked first
Explanation|解释偏好|wish to learn why|wants only the result|asks for reasons
Step by Step|分步偏好|wish for ordered steps|wants the whole at once|wants numbered steps
Examples|示例偏好|wish for examples|abstract is fine|asks for examples
Structure|结构偏好|wish for lists, tables and headings|plain prose|tables and lists
Technical Depth|技术深度|level of expertise expected|lay terms only|expert terms and code
Creativity of Answers|回答创意|wish for unusual ideas|standard solutions|asks for the unusual
Consistency|一致性要求|weight on answers that agree over time|does not mind change|points out contradictions
Memory Use|记忆使用|wish to be remembered|wants each talk fresh|expects past talks known
Personalisation|个性化偏好|wish for answers fitted to the person|general advice|advice for own case
Emotional Support|情感支持|wish for comfort and listening|wants solutions only|wants to be heard first
Challenge|挑战偏好|wish for disagreement and critique|wants agreement|asks to be challenged
Autonomy Given|授权程度|freedom given to the assistant|approves each step|lets it decide
Speed|速度偏好|weight on quick answers|waits for quality|wants it at once
Cultural Fit|文化契合|weight on own language and customs|any culture's norms|wants local norms";

const INTEREST: &str = "\
Science|科学|research, nature, discoveries
Technology|科技|devices, software, the internet
Programming|编程|writing code and tools
Artificial Intelligence|人工智能|models, assistants, automation
Education|教育|learning, courses, schools
Psychology|心理学|mind, behaviour, self-knowledge
Philosophy|哲学|ideas, ethics, meaning
History|历史|the past, its people and places
Politics|政治|government, elections, policy
Society|社会|social questions and justice
Law|法律|rights, courts, contracts
Economics|经济|markets, trade, work
Finance|理财|money, saving, investing
Business|商业|companies, founding, management
Health|健康|medicine, nutrition, sleep
Fitness|健身|exercise, training, running
Sports|体育|games, teams, matches
Food|美食|cooking, restaurants, drinks
Travel|旅行|journeys, places, trips
Nature|自然|outdoors, gardens, environment
Animals|动物|pets and wildlife
Family|家庭|children, parents, home life
Relationships|情感|friendship, love, dating
Home|家居|dwelling, furniture, repairs
Fashion|时尚|clothes, beauty, style
Art|艺术|painting, design, photography
Music|音乐|listening, playing, concerts
Film|影视|cinema, series, video
Reading|阅读|books, stories, poetry
Games|游戏|video, board and role-playing games";

/// One of the 90 dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraitDimension {
    /// 0 to 89, as in [`Trait::dimension`].
    pub number: u8,
    /// Its category.
    pub category: TraitCategory,
    /// English name.
    pub name: &'static str,
    /// Chinese name.
    pub chinese: &'static str,
    /// What it is, in a phrase.
    pub definition: &'static str,
    low: &'static str,
    high: &'static str,
}

impl TraitDimension {
    /// What a level means, in a phrase. A level needs words or deeds of the user that show it.
    pub fn level_rule(&self, level: TraitLevel) -> &'static str {
        match (self.category, level) {
            (TraitCategory::Interest, TraitLevel::Low) => "turns it down or says it bores",
            (TraitCategory::Interest, TraitLevel::Medium) => "takes it up when it comes up",
            (TraitCategory::Interest, TraitLevel::High) => "brings it up unasked, again and again",
            (_, TraitLevel::Low) => self.low,
            (_, TraitLevel::Medium) => "between the two, or by situation",
            (_, TraitLevel::High) => self.high,
        }
    }
}

/// A dimension by its number.
pub fn dimension(number: u8) -> Option<TraitDimension> {
    let at = usize::from(number);
    let (category, table) = match at / PER_CATEGORY {
        0 => (TraitCategory::Psychology, PSYCHOLOGY),
        1 => (TraitCategory::Alignment, ALIGNMENT),
        2 => (TraitCategory::Interest, INTEREST),
        _ => return None,
    };
    let mut fields = table.lines().nth(at % PER_CATEGORY)?.split('|');
    let mut field = || fields.next().unwrap_or("");
    let (name, chinese, definition) = (field(), field(), field());
    Some(TraitDimension { number, category, name, chinese, definition, low: field(), high: field() })
}

/// Every dimension, by number.
pub fn dimensions() -> impl Iterator<Item = TraitDimension> {
    (0..N_TRAITS as u8).filter_map(dimension)
}

/// A dimension by number, English or Chinese name, as a model or a person may write it: case, spaces, hyphens and brackets do
/// not count, nor does "interest" after an interest's name, nor American spelling.
pub fn find_dimension(text: &str) -> Option<TraitDimension> {
    if let Ok(number) = normal_value(text).trim_start_matches('#').parse() {
        return dimension(number);
    }
    let wanted = key(text);
    let as_interest = wanted.strip_suffix("interest").or_else(|| wanted.strip_suffix("兴趣")).unwrap_or(&wanted);
    let is =
        |of: &TraitDimension, wanted: &str| !wanted.is_empty() && (key(of.name) == wanted || key(of.chinese) == wanted);
    let mut all = dimensions();
    all.find(|of| is(of, &wanted) || (of.category == TraitCategory::Interest && is(of, as_interest)))
}

/// The letters and digits of a name.
fn key(text: &str) -> String {
    let letters: String = normal_value(text).chars().filter(|c| c.is_alphanumeric()).collect();
    letters.replace("humor", "humour").replace("ization", "isation")
}

/// What is known of a trait after `seen`: the same level makes it surer, as independent witnesses do; of two levels the surer
/// one stays, less sure by what speaks against it. Evidence seen before changes nothing.
pub fn observe(known: Option<&Trait>, seen: &Trait) -> Trait {
    let share = |of: f32| if of.is_nan() { 0.0 } else { of.clamp(0.0, 1.0) };
    let (mut out, other) = match known {
        None => {
            let mut new = Trait { confidence: share(seen.confidence), evidence: Vec::new(), ..seen.clone() };
            join_evidence(&mut new.evidence, &seen.evidence);
            return new;
        }
        Some(known) if seen.evidence.iter().all(|of| known.evidence.contains(of)) => return known.clone(),
        Some(known) if share(seen.confidence) > known.confidence && seen.level != known.level => (seen.clone(), known),
        Some(known) => (known.clone(), seen),
    };
    let (sure, against) = (share(out.confidence), share(other.confidence));
    out.confidence = match out.level == other.level {
        true => (1.0 - (1.0 - sure) * (1.0 - against)).clamp(0.0, 0.99).max(sure),
        false => sure * (1.0 - against / 2.0),
    };
    // What speaks for another level is no evidence of this one.
    if out.level == other.level {
        join_evidence(&mut out.evidence, &other.evidence);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PageId, Side, TurnId};
    use crate::model::Evidence;
    use hashbrown::HashSet;

    #[test]
    fn o10_there_are_90_dimensions_in_three_categories_with_unique_names() {
        let all: Vec<_> = dimensions().collect();
        assert_eq!(all.len(), 90);
        for category in [TraitCategory::Psychology, TraitCategory::Alignment, TraitCategory::Interest] {
            assert_eq!(all.iter().filter(|of| of.category == category).count(), 30, "{category:?}");
        }
        assert_eq!(all.iter().map(|of| key(of.name)).collect::<HashSet<_>>().len(), 90);
        assert_eq!(all.iter().map(|of| key(of.chinese)).collect::<HashSet<_>>().len(), 90);
        for of in &all {
            for level in [TraitLevel::Low, TraitLevel::Medium, TraitLevel::High] {
                assert!(of.level_rule(level).len() > 3, "{}", of.name);
            }
            assert!(!of.definition.is_empty() && of.chinese.chars().all(|c| !c.is_ascii()), "{}", of.name);
        }
        assert_eq!(dimension(90), None);
    }

    #[test]
    fn o10_every_dimension_is_found_by_number_and_name() {
        for of in dimensions() {
            for text in [of.number.to_string(), of.name.to_uppercase(), of.name.replace(' ', "_"), of.chinese.into()] {
                assert_eq!(find_dimension(&text), Some(of), "{text}");
            }
        }
        for (text, name) in [
            (" extraversion. ", "Extraversion"),
            ("Humor", "Humour"),
            ("self actualization", "Self-Actualisation"),
            ("Science Interest", "Science"),
            ("科学兴趣", "科学"),
        ] {
            let found = find_dimension(text);
            assert!(found.is_some_and(|of| of.name == name || of.chinese == name), "{text}: {found:?}");
        }
        for nothing in ["", "  ", "interest", "91", "-1", "shoe size"] {
            assert_eq!(find_dimension(nothing), None, "{nothing:?}");
        }
    }

    fn seen(level: TraitLevel, confidence: f32, quote: &str) -> Trait {
        let turn = TurnId { page: PageId::from_raw(1), side: Side::User };
        Trait { dimension: 3, level, confidence, evidence: vec![Evidence { turn, quote: quote.into() }] }
    }

    #[test]
    fn o10_witnesses_add_up_and_contradictions_cost() {
        let first = observe(None, &seen(TraitLevel::High, 0.6, "a"));
        let again = observe(Some(&first), &seen(TraitLevel::High, 0.5, "b"));
        assert!((again.confidence - 0.8).abs() < 1e-6 && again.evidence.len() == 2);
        assert_eq!(observe(Some(&again), &seen(TraitLevel::High, 0.5, "b")), again);
        let against = observe(Some(&again), &seen(TraitLevel::Low, 0.4, "c"));
        assert_eq!(against.level, TraitLevel::High);
        assert!((against.confidence - 0.64).abs() < 1e-6 && against.evidence.len() == 2);
        let turned = observe(Some(&against), &seen(TraitLevel::Low, 0.9, "d"));
        assert_eq!((turned.level, turned.evidence.len()), (TraitLevel::Low, 1));
        assert_eq!(observe(None, &seen(TraitLevel::Low, f32::NAN, "e")).confidence, 0.0);
    }
}
